<?php
/**
 * The webhook that baoco calls.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Webhook receives the signed deliveries of baoco. Exactly the status 200 tells
 * baoco that a delivery was handled; after any other it tries again.
 */
class Baoco_Webhook {

	public static function register() {
		register_rest_route(
			'baoco/v1',
			'/webhook',
			array(
				'methods'             => 'POST',
				'permission_callback' => array( __CLASS__, 'is_signed' ),
				'callback'            => array( __CLASS__, 'receive' ),
			)
		);
	}

	public static function url() {
		return rest_url( 'baoco/v1/webhook' );
	}

	/**
	 * Verifies the signature, which covers the bytes of the body as they came.
	 */
	public static function is_signed( WP_REST_Request $request ) {
		$secret = Baoco_Connection::get( 'secret' );
		$given  = (string) $request->get_header( 'X-Webhook-Signature' );
		if ( '' !== $secret && hash_equals( hash_hmac( 'sha256', $request->get_body(), $secret ), $given ) ) {
			return true;
		}
		return new WP_Error( 'baoco_signature', 'The signature is wrong.', array( 'status' => 401 ) );
	}

	public static function receive( WP_REST_Request $request ) {
		$delivery = json_decode( $request->get_body(), true );
		if ( ! is_array( $delivery ) || ! isset( $delivery['transactions'] ) || ! is_array( $delivery['transactions'] ) ) {
			return self::refuse( 422 );
		}
		if ( ! empty( $delivery['test'] ) ) {
			return array( 'success' => true );
		}
		foreach ( $delivery['transactions'] as $transfer ) {
			if ( ! isset( $transfer['payment_request'] ) || ! isset( $transfer['transferType'] ) || 'IN' !== $transfer['transferType'] ) {
				continue; // It is for no payment request, so for no order.
			}
			if ( ! self::is_readable( $transfer ) ) {
				return self::refuse( 422 );
			}
			if ( ! self::handle( $transfer ) ) {
				return self::refuse( 503 );
			}
		}
		return array( 'success' => true );
	}

	private static function refuse( $status ) {
		return new WP_Error( 'baoco_delivery', 'The delivery was not handled.', array( 'status' => $status ) );
	}

	/**
	 * Reports whether all values that are looked at have the type that they should have.
	 */
	private static function is_readable( array &$transfer ) {
		$transfer += array( 'code' => '', 'transactionNumber' => '' );
		$request   = $transfer['payment_request'];
		return is_array( $request ) && isset( $transfer['id'], $transfer['transferAmount'], $request['id'], $request['reference'], $request['status'], $request['received'] )
			&& is_string( $transfer['id'] ) && '' !== $transfer['id'] && is_string( $transfer['code'] ) && is_string( $transfer['transactionNumber'] ) && is_int( $transfer['transferAmount'] )
			&& is_int( $request['id'] ) && is_string( $request['reference'] ) && is_string( $request['status'] ) && is_int( $request['received'] );
	}

	/**
	 * Handles a transfer for an order of this shop. Its reference is the id of the order,
	 * and the order must know the payment request: another shop can have the same ids.
	 */
	private static function handle( array $transfer ) {
		global $wpdb;
		$reference = $transfer['payment_request']['reference'];
		if ( ! preg_match( '/^[1-9]\d{0,17}$/', $reference ) ) {
			return true;
		}
		$token = Baoco_Lock::take( $reference );
		if ( '' === $token ) {
			return false;
		}
		try {
			$order = wc_get_order( (int) $reference );
			if ( ! $order && '' !== (string) $wpdb->last_error ) {
				return false; // The order could not be read.
			}
			if ( ! $order instanceof WC_Order || ! Baoco_Payment::has( $order, $transfer['payment_request']['id'] ) ) {
				return true;
			}
			return Baoco_Payment::handle( $order, $transfer );
		} finally {
			Baoco_Lock::release( $reference, $token );
		}
	}
}
