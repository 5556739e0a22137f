<?php
/**
 * What customers see beside the checkout, and what follows from the status of an order.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Pages leads customers back to the payment page as long as an order isn't paid.
 */
class Baoco_Pages {

	public static function register() {
		add_action( 'woocommerce_thankyou_baoco', array( __CLASS__, 'show_link' ) );
		add_action( 'woocommerce_view_order', array( __CLASS__, 'show_link' ), 5 );
		add_action( 'woocommerce_email_before_order_table', array( __CLASS__, 'show_link_in_email' ), 10, 3 );
		add_action( 'woocommerce_order_status_cancelled', array( __CLASS__, 'close_page' ), 10, 2 );
		add_filter( 'woocommerce_payment_complete_order_status', array( __CLASS__, 'paid_status' ), 10, 3 );
	}

	/**
	 * Gives the address of the payment page of an order that waits for its payment, or ''.
	 */
	private static function page( $order ) {
		if ( ! $order instanceof WC_Order || 'baoco' !== $order->get_payment_method() || ! $order->has_status( array( 'pending', 'on-hold' ) ) ) {
			return '';
		}
		return Baoco_Payment::page( $order );
	}

	public static function show_link( $order_id ) {
		$url = self::page( wc_get_order( $order_id ) );
		if ( '' !== $url ) {
			echo '<p><a class="button" href="' . esc_url( $url ) . '">' . esc_html__( 'Pay by bank transfer (VietQR)', 'baoco' ) . '</a></p>';
		}
	}

	public static function show_link_in_email( $order, $sent_to_admin, $plain_text = false ) {
		$url = $sent_to_admin ? '' : self::page( $order );
		if ( '' === $url ) {
			return;
		}
		if ( $plain_text ) {
			echo esc_html__( 'Pay by bank transfer (VietQR)', 'baoco' ) . ': ' . esc_url_raw( $url ) . "\n\n"; // phpcs:ignore WordPress.Security.EscapeOutput
		} else {
			self::show_link( $order->get_id() );
		}
	}

	public static function close_page( $order_id, $order = null ) {
		$order = $order instanceof WC_Order ? $order : wc_get_order( $order_id );
		if ( $order instanceof WC_Order ) {
			Baoco_Payment::cancel( $order );
		}
	}

	/**
	 * Gives the status of a paid order: what WooCommerce chose, or what the settings say.
	 */
	public static function paid_status( $status, $order_id, $order = null ) {
		$settings = get_option( 'woocommerce_baoco_settings', array() );
		if ( $order instanceof WC_Order && 'baoco' === $order->get_payment_method() && ! empty( $settings['paid_status'] ) ) {
			return $settings['paid_status'];
		}
		return $status;
	}
}
