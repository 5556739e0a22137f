<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Pages leads customers back to the payment page as long as an order isn't paid,
 * and does what follows from the status of an order.
 */
class Baoco_Pages {

	public static function register() {
		add_action( 'woocommerce_thankyou_baoco', array( __CLASS__, 'show_link' ) );
		add_action( 'woocommerce_view_order', array( __CLASS__, 'show_link' ), 5 );
		add_action( 'woocommerce_email_before_order_table', array( __CLASS__, 'show_link_in_email' ), 10, 3 );
		add_action( 'woocommerce_order_status_cancelled', array( __CLASS__, 'close_page' ) );
		add_filter( 'woocommerce_payment_complete_order_status', array( __CLASS__, 'paid_status' ), 10, 3 );
	}

	public static function show_link( $order_id, bool $plain = false ) {
		$order = wc_get_order( $order_id );
		$open  = $order instanceof WC_Order && 'baoco' === $order->get_payment_method() && $order->has_status( array( 'pending', 'on-hold' ) );
		$url   = $open ? Baoco_Payment::page( $order ) : '';
		$text  = __( 'Pay by bank transfer (VietQR)', 'baoco' );
		if ( '' !== $url && $plain ) {
			echo esc_html( $text ) . ': ' . esc_url_raw( $url ) . "\n\n";
		} elseif ( '' !== $url ) {
			echo '<p><a class="button" href="' . esc_url( $url ) . '">' . esc_html( $text ) . '</a></p>';
		}
	}

	public static function show_link_in_email( $order, $sent_to_admin, $plain_text = false ) {
		if ( ! $sent_to_admin && $order instanceof WC_Order ) {
			self::show_link( $order->get_id(), (bool) $plain_text );
		}
	}

	public static function close_page( $order_id ) {
		$order = wc_get_order( $order_id );
		if ( $order instanceof WC_Order && Baoco_Connection::is_ready() ) {
			Baoco_Payment::cancel( $order );
		}
	}

	/** Gives the status of a paid order: what WooCommerce chose, or what the settings say. */
	public static function paid_status( $status, $order_id, $order = null ) {
		$chosen = ( (array) get_option( 'woocommerce_baoco_settings', array() ) )['paid_status'] ?? '';
		return '' !== $chosen && $order instanceof WC_Order && 'baoco' === $order->get_payment_method() ? $chosen : $status;
	}
}
