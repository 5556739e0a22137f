<?php
/**
 * The payment gateway.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Gateway is the way of paying that customers choose, and its settings.
 */
class Baoco_Gateway extends WC_Payment_Gateway {

	/**
	 * The API key that is being saved. It is kept apart from the other settings, which
	 * WordPress loads on every page and WooCommerce prints.
	 *
	 * @var string
	 */
	private $new_key = '';

	public function __construct() {
		$this->id                 = 'baoco';
		$this->method_title       = __( 'Bank transfer by VietQR (baoco)', 'baoco' );
		$this->method_description = __( 'The customer scans a VietQR code, and the order is paid the moment your baoco server reports the money.', 'baoco' );
		$this->has_fields         = false;
		$this->init_form_fields();
		$this->init_settings();
		$this->title       = $this->get_option( 'title' );
		$this->description = $this->get_option( 'description' );
		add_action( 'woocommerce_update_options_payment_gateways_baoco', array( $this, 'process_admin_options' ) );
	}

	public function init_form_fields() {
		$this->form_fields = array(
			'enabled'      => array(
				'title'   => __( 'On or off', 'baoco' ),
				'type'    => 'checkbox',
				'label'   => __( 'Let customers pay by VietQR', 'baoco' ),
				'default' => 'no',
			),
			'title'        => array(
				'title'   => __( 'Title', 'baoco' ),
				'type'    => 'text',
				'default' => __( 'Bank transfer (VietQR)', 'baoco' ),
			),
			'description'  => array(
				'title'   => __( 'Description', 'baoco' ),
				'type'    => 'textarea',
				'default' => __( 'Scan a QR code with the app of your bank. Your order is confirmed as soon as the money has come.', 'baoco' ),
			),
			'address'      => array(
				'title'       => __( 'Address of baoco', 'baoco' ),
				'type'        => 'text',
				'placeholder' => 'https://baoco.example.vn',
				'description' => __( 'Customers open the payment page at this address.', 'baoco' ),
			),
			'api_key'      => array(
				'title'       => __( 'API key', 'baoco' ),
				'type'        => 'password',
				'placeholder' => '' === Baoco_Connection::get( 'key' ) ? 'baoco_…' : __( 'Saved. Leave empty to keep it.', 'baoco' ),
				'description' => __( 'Make one of scope “full” in baoco, under API keys. It makes the webhook and the code pattern when you save.', 'baoco' ),
			),
			'bank_account' => array(
				'title'   => __( 'Bank account', 'baoco' ),
				'type'    => 'select',
				'options' => array( '' => __( 'The only one in baoco', 'baoco' ) ) + Baoco_Connection::get( 'accounts', array() ),
			),
			'prefix'       => array(
				'title'       => __( 'Payment codes begin with', 'baoco' ),
				'type'        => 'text',
				'default'     => 'DH',
				'description' => __( 'Two to ten letters. After a change, transfers with codes of before are no longer reported to this shop.', 'baoco' ),
			),
			'minutes'      => array(
				'title'       => __( 'Minutes until the payment page ends', 'baoco' ),
				'type'        => 'text',
				'description' => __( 'Empty: it never ends. Money that comes later still pays the order, unless the order was cancelled.', 'baoco' ),
			),
			'paid_status'  => array(
				'title'   => __( 'Status of a paid order', 'baoco' ),
				'type'    => 'select',
				'options' => array(
					''           => __( 'As WooCommerce chooses', 'baoco' ),
					'processing' => __( 'Processing', 'baoco' ),
					'completed'  => __( 'Completed', 'baoco' ),
				),
			),
		);
	}

	/**
	 * Takes the API key out of what is saved with the other settings.
	 */
	public function validate_api_key_field( $key, $value ) {
		$this->new_key = is_string( $value ) ? trim( wp_unslash( $value ) ) : '';
		return '';
	}

	public function validate_address_field( $key, $value ) {
		$address = untrailingslashit( trim( wp_unslash( (string) $value ) ) );
		$parts   = wp_parse_url( $address );
		$scheme  = isset( $parts['scheme'] ) ? $parts['scheme'] : '';
		$host    = isset( $parts['host'] ) ? $parts['host'] : '';
		$local   = in_array( $host, array( 'localhost', '127.0.0.1', '[::1]' ), true );
		$bad     = '' === $host || isset( $parts['user'] ) || isset( $parts['query'] ) || isset( $parts['fragment'] ) || ! ( 'https' === $scheme || 'http' === $scheme && $local );
		if ( '' !== $address && ( $bad || esc_url_raw( $address ) !== $address ) ) {
			return $this->keep( 'address', __( 'The address of baoco must begin with https:// and have nothing behind the name but a port or a path.', 'baoco' ) );
		}
		return $address;
	}

	public function validate_prefix_field( $key, $value ) {
		$prefix = strtoupper( trim( wp_unslash( (string) $value ) ) );
		if ( ! preg_match( '/^[A-Z][A-Z0-9]{1,9}$/', $prefix ) ) {
			return $this->keep( 'prefix', __( 'Payment codes must begin with 2 to 10 letters A–Z or digits, the first one a letter.', 'baoco' ) );
		}
		return $prefix;
	}

	public function validate_minutes_field( $key, $value ) {
		$minutes = trim( wp_unslash( (string) $value ) );
		if ( '' !== $minutes && ! ( preg_match( '/^[1-9]\d{0,5}$/', $minutes ) && (int) $minutes <= 525600 ) ) {
			return $this->keep( 'minutes', __( 'The minutes must be a whole number from 1 to 525600, or empty.', 'baoco' ) );
		}
		return $minutes;
	}

	/**
	 * Says what is wrong with a setting, and gives the value of before.
	 */
	private function keep( $name, $error ) {
		WC_Admin_Settings::add_error( $error );
		return $this->get_option( $name );
	}

	/**
	 * Saves the settings and connects with baoco. WooCommerce has checked the nonce.
	 */
	public function process_admin_options() {
		if ( ! current_user_can( 'manage_woocommerce' ) ) {
			return false;
		}
		$saved   = parent::process_admin_options();
		$key     = '' === $this->new_key ? Baoco_Connection::get( 'key' ) : $this->new_key;
		$address = $this->get_option( 'address' );
		if ( '' !== $this->new_key && ! preg_match( '/^baoco_[0-9A-Za-z]+$/', $this->new_key ) ) {
			WC_Admin_Settings::add_error( __( 'This is no API key of baoco: they begin with baoco_.', 'baoco' ) );
		} elseif ( '' !== $address && '' !== $key ) {
			$done = Baoco_Connection::connect( $address, $key, $this->get_option( 'prefix' ), (string) $this->get_option( 'bank_account' ) );
			if ( is_wp_error( $done ) ) {
				WC_Admin_Settings::add_error( $done->get_error_message() );
			} else {
				WC_Admin_Settings::add_message( __( 'The shop is connected with baoco, and a test came through.', 'baoco' ) );
			}
		} elseif ( 'yes' === $this->get_option( 'enabled' ) ) {
			WC_Admin_Settings::add_error( __( 'Enter the address of baoco and an API key.', 'baoco' ) );
		}
		$this->new_key = '';
		$this->init_form_fields(); // The bank accounts may be known only now.
		return $saved;
	}

	/**
	 * Makes WooCommerce open the settings when somebody switches the gateway on too early.
	 */
	public function needs_setup() {
		return ! Baoco_Connection::is_ready();
	}

	/**
	 * Reports whether customers see the gateway: only for orders in Vietnamese dong.
	 */
	public function is_available() {
		return parent::is_available() && 'VND' === get_woocommerce_currency() && Baoco_Connection::is_ready();
	}

	/**
	 * Sends the customer to the payment page. The order waits on hold, as with
	 * WooCommerce's own bank transfer.
	 *
	 * @param int $order_id The id of the order.
	 * @return array
	 */
	public function process_payment( $order_id ) {
		$order = wc_get_order( $order_id );
		$total = Baoco_Payment::total( $order );
		if ( null === $total ) {
			return $this->fail( __( 'This way of paying is for whole amounts in Vietnamese dong only.', 'baoco' ) );
		}
		if ( 0 === $total ) {
			$order->payment_complete();
			return $this->lead_to( $this->get_return_url( $order ) );
		}
		$token = Baoco_Lock::take( $order_id );
		if ( '' === $token ) {
			return $this->fail( __( 'This order is being paid right now. Please try again in a moment.', 'baoco' ) );
		}
		try {
			$url = Baoco_Payment::ask( $order, $this->request_fields( $order ) );
			if ( is_wp_error( $url ) ) {
				/* translators: %s: what went wrong */
				$order->add_order_note( sprintf( __( 'The payment page could not be made. %s', 'baoco' ), $url->get_error_message() ) );
				return $this->fail( __( 'The payment page could not be opened. Please try again, or choose another way of paying.', 'baoco' ) );
			}
			$note = __( 'Waiting for the bank transfer.', 'baoco' );
			if ( '' === $url ) {
				$note = __( 'Enough money came for earlier payment pages of this order. Please check the order by hand.', 'baoco' );
			}
			if ( $order->has_status( array( 'pending', 'failed', 'checkout-draft' ) ) ) {
				$order->update_status( 'on-hold', $note );
			}
		} finally {
			Baoco_Lock::release( $order_id, $token );
		}
		return $this->lead_to( '' === $url ? $this->get_return_url( $order ) : $url );
	}

	/**
	 * Gives what the settings say of a payment request.
	 */
	private function request_fields( WC_Order $order ) {
		$fields = array(
			'prefix'     => $this->get_option( 'prefix' ),
			// A URL may have Vietnamese letters, which baoco takes in their encoded form.
			'return_url' => preg_replace_callback( '/[^\x21-\x7e]+/', function ( $found ) {
				return rawurlencode( $found[0] );
			}, $this->get_return_url( $order ) ),
		);
		if ( '' !== (string) $this->get_option( 'bank_account' ) ) {
			$fields['bank_account_id'] = (int) $this->get_option( 'bank_account' );
		}
		if ( '' !== (string) $this->get_option( 'minutes' ) ) {
			$fields['expires_in'] = (int) $this->get_option( 'minutes' );
		}
		return $fields;
	}

	private function fail( $notice ) {
		wc_add_notice( $notice, 'error' );
		return array( 'result' => 'failure' );
	}

	private function lead_to( $url ) {
		if ( WC()->cart ) {
			WC()->cart->empty_cart();
		}
		return array( 'result' => 'success', 'redirect' => $url );
	}
}
