<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Gateway is the way of paying that customers choose, and its settings.
 */
class Baoco_Gateway extends WC_Payment_Gateway {

	/**
	 * The API key that is being saved. It is kept apart from the other settings, which
	 * WordPress loads on every page and WooCommerce prints.
	 */
	private string $new_key = '';

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
		$key_hint          = '' === Baoco_Connection::get( 'key' ) ? 'baoco_…' : __( 'Saved. Leave empty to keep it.', 'baoco' );
		$accounts          = array( '' => __( 'The only one in baoco', 'baoco' ) ) + Baoco_Connection::get( 'accounts', array() );
		$statuses          = array( '' => __( 'As WooCommerce chooses', 'baoco' ), 'processing' => __( 'Processing', 'baoco' ), 'completed' => __( 'Completed', 'baoco' ) );
		$this->form_fields = array(
			'enabled'      => array( 'type' => 'checkbox', 'default' => 'no', 'title' => __( 'On or off', 'baoco' ), 'label' => __( 'Let customers pay by VietQR', 'baoco' ) ),
			'title'        => array( 'type' => 'text', 'title' => __( 'Title', 'baoco' ), 'default' => __( 'Bank transfer (VietQR)', 'baoco' ) ),
			'description'  => array( 'type' => 'textarea', 'title' => __( 'Description', 'baoco' ), 'default' => __( 'Scan a QR code with the app of your bank. Your order is confirmed as soon as the money has come.', 'baoco' ) ),
			'address'      => array( 'type' => 'text', 'title' => __( 'Address of baoco', 'baoco' ), 'placeholder' => 'https://baoco.example.vn', 'description' => __( 'Customers open the payment page at this address.', 'baoco' ) ),
			'api_key'      => array( 'type' => 'password', 'title' => __( 'API key', 'baoco' ), 'placeholder' => $key_hint, 'custom_attributes' => array( 'autocomplete' => 'new-password' ), 'description' => __( 'Make one of scope “full” in baoco. When you save, it makes the webhook and the code pattern there.', 'baoco' ) ),
			'bank_account' => array( 'type' => 'select', 'title' => __( 'Bank account', 'baoco' ), 'options' => $accounts ),
			'prefix'       => array( 'type' => 'text', 'title' => __( 'Payment codes begin with', 'baoco' ), 'default' => 'DH', 'description' => __( 'Two to ten letters. After a change, transfers with codes of before are no longer reported to this shop.', 'baoco' ) ),
			'minutes'      => array( 'type' => 'text', 'title' => __( 'Minutes until the payment page ends', 'baoco' ), 'description' => __( 'Empty: it never ends. Money that comes later still pays the order, unless the order was cancelled.', 'baoco' ) ),
			'paid_status'  => array( 'type' => 'select', 'title' => __( 'Status of a paid order', 'baoco' ), 'options' => $statuses ),
		);
	}

	/** Takes the API key out of what is saved with the other settings. */
	public function validate_api_key_field( $key, $value ) {
		$this->new_key = trim( wp_unslash( (string) $value ) );
		return '';
	}

	public function validate_address_field( $key, $value ) {
		$address = untrailingslashit( trim( wp_unslash( (string) $value ) ) );
		if ( '' !== $address && ! preg_match( '#^(https://[\w.-]+|http://(localhost|127\.0\.0\.1))(:\d+)?(/[\w./-]*)?$#', $address ) ) {
			return $this->refuse( 'address', __( 'The address of baoco must be https:// and a name, with nothing behind it but a port or a path.', 'baoco' ) );
		}
		return $address;
	}

	public function validate_prefix_field( $key, $value ) {
		$prefix = strtoupper( trim( wp_unslash( (string) $value ) ) );
		if ( ! preg_match( '/^[A-Z][A-Z0-9]{1,9}$/', $prefix ) ) {
			return $this->refuse( 'prefix', __( 'Payment codes must begin with 2 to 10 letters A–Z or digits, the first one a letter.', 'baoco' ) );
		}
		return $prefix;
	}

	public function validate_minutes_field( $key, $value ) {
		$minutes = trim( wp_unslash( (string) $value ) );
		if ( '' !== $minutes && ( ! preg_match( '/^[1-9]\d{0,5}$/', $minutes ) || (int) $minutes > 525600 ) ) {
			return $this->refuse( 'minutes', __( 'The minutes must be a whole number from 1 to 525600, or empty.', 'baoco' ) );
		}
		return $minutes;
	}

	/** Says what is wrong with a setting, and gives the value of before. */
	private function refuse( string $name, string $error ): string {
		WC_Admin_Settings::add_error( $error );
		return (string) $this->get_option( $name );
	}

	/** Saves the settings and connects with baoco. WooCommerce has checked the nonce. */
	public function process_admin_options() {
		if ( ! current_user_can( 'manage_woocommerce' ) ) {
			return false;
		}
		$saved = parent::process_admin_options();
		$key   = '' === $this->new_key ? Baoco_Connection::get( 'key' ) : $this->new_key;
		$error = __( 'Enter the address of baoco and an API key, which begins with baoco_.', 'baoco' );
		if ( '' !== $this->get_option( 'address' ) && preg_match( '/^baoco_[0-9A-Za-z]+$/', $key ) ) {
			$done  = Baoco_Connection::connect( new Baoco_Api( $this->get_option( 'address' ), $key ), $this->get_option( 'prefix' ), (string) $this->get_option( 'bank_account' ) );
			$error = is_wp_error( $done ) ? $done->get_error_message() : '';
		}
		if ( '' !== $error ) {
			WC_Admin_Settings::add_error( $error );
		} else {
			WC_Admin_Settings::add_message( __( 'The shop is connected with baoco, and a test came through.', 'baoco' ) );
		}
		$this->new_key = '';
		$this->init_form_fields(); // The bank accounts may be known only now.
		return $saved;
	}

	/** Makes WooCommerce open the settings when somebody switches the gateway on too early. */
	public function needs_setup() {
		return ! Baoco_Connection::is_ready();
	}

	/** Reports whether customers see the gateway: only where prices are in Vietnamese dong. */
	public function is_available() {
		return parent::is_available() && 'VND' === get_woocommerce_currency() && Baoco_Connection::is_ready();
	}

	/**
	 * Sends the customer to the payment page. The order waits on hold, as with
	 * WooCommerce's own bank transfer.
	 */
	public function process_payment( $order_id ) {
		$order = wc_get_order( $order_id );
		$total = Baoco_Payment::total( $order );
		if ( null === $total ) {
			return $this->fail( __( 'This way of paying is for whole amounts in Vietnamese dong only.', 'baoco' ) );
		}
		$token = Baoco_Lock::take( (int) $order_id );
		if ( '' === $token ) {
			return $this->fail( __( 'This order is being paid right now. Please try again in a moment.', 'baoco' ) );
		}
		try {
			$url = Baoco_Payment::ask( $order, $this->request_fields( $order ) );
			if ( is_wp_error( $url ) ) {
				/* translators: %s: what went wrong */
				$order->add_order_note( sprintf( __( 'The payment page could not be made. %s', 'baoco' ), esc_html( $url->get_error_message() ) ) );
				return $this->fail( __( 'The payment page could not be opened. Please try again, or choose another way of paying.', 'baoco' ) );
			}
			if ( $order->has_status( array( 'pending', 'failed', 'checkout-draft' ) ) ) {
				$enough = __( 'Enough money came for earlier payment pages of this order. Please check the order by hand.', 'baoco' );
				$order->update_status( 'on-hold', '' === $url ? $enough : __( 'Waiting for the bank transfer.', 'baoco' ) );
			}
		} finally {
			Baoco_Lock::release( (int) $order_id, $token );
		}
		if ( WC()->cart ) {
			WC()->cart->empty_cart();
		}
		return array( 'result' => 'success', 'redirect' => '' === $url ? $this->get_return_url( $order ) : $url );
	}

	/** Gives what the settings say of a payment request: those with which baoco is connected. */
	private function request_fields( WC_Order $order ): array {
		$encode = function ( $found ) {
			return rawurlencode( $found[0] );
		};
		$fields = array(
			'prefix'     => Baoco_Connection::get( 'prefix' ),
			'return_url' => preg_replace_callback( '/[^\x21-\x7e]+/', $encode, $this->get_return_url( $order ) ), // It may have Vietnamese letters.
		);
		if ( '' !== Baoco_Connection::get( 'account' ) ) {
			$fields['bank_account_id'] = (int) Baoco_Connection::get( 'account' );
		}
		if ( '' !== (string) $this->get_option( 'minutes' ) ) {
			$fields['expires_in'] = (int) $this->get_option( 'minutes' );
		}
		return $fields;
	}

	private function fail( string $notice ): array {
		wc_add_notice( $notice, 'error' );
		return array( 'result' => 'failure' );
	}
}
