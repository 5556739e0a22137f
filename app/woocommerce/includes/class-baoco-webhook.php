<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Webhook receives the signed deliveries of baoco. Exactly the status 200 tells
 * baoco that a delivery was handled; after any other it tries again.
 */
class Baoco_Webhook {

	public static function register() {
		register_rest_route( 'baoco/v1', '/webhook', array(
			'methods'             => 'POST',
			'permission_callback' => array( __CLASS__, 'is_signed' ),
			'callback'            => array( __CLASS__, 'receive' ),
		) );
	}

	public static function url(): string {
		return rest_url( 'baoco/v1/webhook' );
	}

	/** Verifies the signature, which covers the bytes of the body as they came. */
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
		if ( ! is_array( $delivery ) || ! is_array( $delivery['transactions'] ?? null ) ) {
			return self::refusal( 400, 'This is no delivery of baoco.' );
		}
		if ( ! empty( $delivery['test'] ) ) {
			return array( 'success' => true );
		}
		foreach ( $delivery['transactions'] as $transfer ) {
			if ( ! self::is_transfer( $transfer ) ) {
				return self::refusal( 400, 'This is no delivery of baoco.' );
			}
		}
		foreach ( $delivery['transactions'] as $transfer ) {
			if ( ! self::handle( $transfer ) ) {
				return self::refusal( 503, 'The delivery could not be handled.' );
			}
		}
		return array( 'success' => true );
	}

	private static function refusal( int $status, string $text ): WP_Error {
		return new WP_Error( 'baoco_delivery', $text, array( 'status' => $status ) );
	}

	/** Reports whether an element of a signed delivery has what this plugin reads, of the right types. */
	private static function is_transfer( $transfer ): bool {
		if ( ! is_array( $transfer ) || ! is_string( $transfer['id'] ?? null ) || ! is_string( $transfer['transferType'] ?? null ) || ! is_int( $transfer['transferAmount'] ?? null ) ) {
			return false;
		}
		if ( ! is_string( $transfer['code'] ?? '' ) || ! is_string( $transfer['transactionNumber'] ?? '' ) ) {
			return false;
		}
		$state = $transfer['payment_request'] ?? null;
		return null === $state || is_array( $state ) && is_int( $state['id'] ?? null ) && is_int( $state['received'] ?? null )
			&& is_string( $state['status'] ?? null ) && is_string( $state['reference'] ?? '' );
	}

	/**
	 * Handles a transfer for an order of this shop. Its reference is the id of the order,
	 * and the order must know the payment request: another shop can have the same ids.
	 */
	private static function handle( array $transfer ): bool {
		$reference = $transfer['payment_request']['reference'] ?? '';
		if ( 'IN' !== $transfer['transferType'] || ! preg_match( '/^[1-9]\d{0,17}$/', $reference ) ) {
			return true;
		}
		$transfer += array( 'code' => '', 'transactionNumber' => '' );
		$token     = Baoco_Lock::take( (int) $reference );
		if ( '' === $token ) {
			return false;
		}
		try {
			$order = wc_get_order( (int) $reference );
			if ( ! $order && '' !== (string) $GLOBALS['wpdb']->last_error ) {
				return false; // The order could not be read.
			}
			if ( ! $order instanceof WC_Order || ! Baoco_Payment::has( $order, $transfer['payment_request']['id'] ) ) {
				return true;
			}
			return Baoco_Payment::handle( $order, $transfer );
		} finally {
			Baoco_Lock::release( (int) $reference, $token );
		}
	}
}
