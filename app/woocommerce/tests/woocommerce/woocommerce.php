<?php
/**
 * Plugin Name: WooCommerce
 * Description: What the plugin baoco calls of WooCommerce, for tests: without shop, cart and templates. It runs with WordPress, and with the functions of ../wordpress.php.
 * Version: 11.0.1
 */

namespace Automattic\WooCommerce\Utilities {
	class FeaturesUtil {
		public static $declared = array();
		public static function declare_compatibility( $feature, $file, $positive = true ) {
			self::$declared[ $feature ] = $positive;
		}
	}
}

namespace Automattic\WooCommerce\Blocks\Payments\Integrations {
	abstract class AbstractPaymentMethodType {
		protected $name     = '';
		protected $settings = array();
		abstract public function initialize();
		public function get_name() {
			return $this->name;
		}
		public function get_supported_features() {
			return array( 'products' );
		}
	}
}

namespace {
	abstract class WC_Settings_API {
		public $id          = '';
		public $settings    = array();
		public $form_fields = array();

		public function get_option_key() {
			return 'woocommerce_' . $this->id . '_settings';
		}
		public function init_settings() {
			$this->settings = get_option( $this->get_option_key(), null );
			if ( ! is_array( $this->settings ) ) {
				$this->settings = array();
				foreach ( $this->form_fields as $key => $field ) {
					$this->settings[ $key ] = isset( $field['default'] ) ? $field['default'] : '';
				}
			}
			$this->enabled = isset( $this->settings['enabled'] ) && 'yes' === $this->settings['enabled'] ? 'yes' : 'no';
		}
		public function get_option( $key ) {
			return isset( $this->settings[ $key ] ) ? $this->settings[ $key ] : '';
		}
		public function process_admin_options() {
			$this->init_settings();
			foreach ( $this->form_fields as $key => $field ) {
				$name  = 'woocommerce_' . $this->id . '_' . $key;
				$value = isset( $_POST[ $name ] ) ? $_POST[ $name ] : null;
				if ( is_callable( array( $this, 'validate_' . $key . '_field' ) ) ) {
					$this->settings[ $key ] = $this->{'validate_' . $key . '_field'}( $key, $value );
				} elseif ( 'checkbox' === $field['type'] ) {
					$this->settings[ $key ] = null === $value ? 'no' : 'yes';
				} else {
					$this->settings[ $key ] = trim( stripslashes( (string) $value ) );
				}
			}
			return update_option( $this->get_option_key(), $this->settings, 'yes' );
		}

		// As WooCommerce shows the settings, in short.
		public function admin_options() {
			foreach ( $this->form_fields as $key => $field ) {
				echo esc_html( $key . ' = ' . $this->get_option( $key ) . ' ' . wp_json_encode( $field ) ) . "\n";
			}
		}
	}

	abstract class WC_Payment_Gateway extends WC_Settings_API {
		public $enabled = 'yes';
		public $title;
		public $description;
		public $method_title;
		public $method_description;
		public $has_fields;
		public function is_available() {
			return 'yes' === $this->enabled;
		}
		public function get_title() {
			return $this->title;
		}
		public function get_description() {
			return $this->description;
		}
		public function get_return_url( $order ) {
			return home_url() . '/thanh-toan/cảm-ơn/' . $order->get_id() . '/?key=' . $order->get_order_key();
		}
	}

	class WC_Admin_Settings {
		public static $errors   = array();
		public static $messages = array();
		public static function add_error( $text ) {
			self::$errors[] = $text;
		}
		public static function add_message( $text ) {
			self::$messages[] = $text;
		}
		public static function show_messages() {
			foreach ( self::$errors ? self::$errors : self::$messages as $text ) {
				echo '<div class="' . ( self::$errors ? 'error' : 'updated' ) . ' inline">' . esc_html( $text ) . '</div>';
			}
		}
	}

	/**
	 * An order. It is one option. As in WooCommerce save() writes what was changed, and
	 * leaves what another request wrote since.
	 */
	class WC_Order {
		private $data;
		private $changes = array();

		public static function make( $total, $currency = 'VND', $status = 'pending' ) {
			$id = (int) get_option( 'stub_orders', 1041 ) + 1;
			update_option( 'stub_orders', $id, false );
			update_option( 'stub_order_' . $id, array( 'id' => $id, 'total' => $total, 'currency' => $currency, 'status' => $status, 'transaction_id' => '', 'paid' => 0, 'meta' => array(), 'payment_method' => 'baoco', 'order_key' => 'wc_order_' . $id ), false );
			return self::read( $id );
		}
		public static function read( $id ) {
			$data = get_option( 'stub_order_' . $id, null );
			if ( ! is_array( $data ) ) {
				return false;
			}
			$order       = new self();
			$order->data = $data;
			return $order;
		}
		public function save() {
			wp_cache_delete( 'stub_order_' . $this->data['id'], 'options' );
			update_option( 'stub_order_' . $this->data['id'], array_replace_recursive( get_option( 'stub_order_' . $this->data['id'] ), $this->changes ), false );
			$this->changes = array();
			return $this->data['id'];
		}
		private function change( $name, $value ) {
			$this->data[ $name ]    = $value;
			$this->changes[ $name ] = $value;
		}
		public function set( $name, $value ) {
			$this->change( $name, $value );
			$this->save();
		}
		public function set_total( $total ) {
			$this->change( 'total', $total );
		}
		public function set_currency( $currency ) {
			$this->change( 'currency', $currency );
		}
		public function set_payment_method( $method ) {
			$this->change( 'payment_method', $method );
		}
		public function data() {
			return $this->data;
		}
		public function get_id() {
			return $this->data['id'];
		}
		public function get_order_key() {
			return $this->data['order_key'];
		}
		public function get_total() {
			return $this->data['total'];
		}
		public function get_currency() {
			return $this->data['currency'];
		}
		public function get_status() {
			return $this->data['status'];
		}
		public function get_transaction_id() {
			return $this->data['transaction_id'];
		}
		public function get_payment_method() {
			return $this->data['payment_method'];
		}
		public function has_status( $status ) {
			return in_array( $this->data['status'], (array) $status, true );
		}
		public function is_paid() {
			return $this->has_status( array( 'processing', 'completed' ) );
		}
		public function get_meta( $key ) {
			return isset( $this->data['meta'][ $key ] ) ? $this->data['meta'][ $key ] : '';
		}
		public function update_meta_data( $key, $value ) {
			$this->data['meta'][ $key ]    = $value;
			$this->changes['meta'][ $key ] = $value;
		}
		// A note is a row of its own, which other requests see at once.
		public function add_order_note( $note ) {
			$kept            = get_option( 'stub_notes_' . $this->data['id'], array() );
			$kept[]          = $note;
			update_option( 'stub_notes_' . $this->data['id'], $kept, false );
		}
		public function update_status( $status, $note = '' ) {
			$this->set( 'status', $status );
			$this->add_order_note( trim( $note . ' (' . $status . ')' ) );
			do_action( 'woocommerce_order_status_' . $status, $this->data['id'], $this );
		}
		public function payment_complete( $transaction_id = '' ) {
			// WooCommerce completes cancelled orders too. Other plugins can keep it from completing one.
			if ( empty( $GLOBALS['stub_never_completes'] ) && $this->has_status( array( 'on-hold', 'pending', 'failed', 'cancelled' ) ) ) {
				$this->change( 'transaction_id', $transaction_id );
				$this->change( 'paid', $this->data['paid'] + 1 );
				$this->set( 'status', apply_filters( 'woocommerce_payment_complete_order_status', 'processing', $this->data['id'], $this ) );
			}
			return true;
		}
	}

	function wc_get_order( $id ) {
		return WC_Order::read( $id );
	}
	function wc_create_order() {
		return WC_Order::make( '0' );
	}
	function wc_get_order_notes( $arguments ) {
		return array_map( function ( $note ) {
			return (object) array( 'content' => $note );
		}, get_option( 'stub_notes_' . $arguments['order_id'], array() ) );
	}
	function wc_get_order_status_name( $status ) {
		return ucfirst( $status );
	}
	function get_woocommerce_currency() {
		return get_option( 'woocommerce_currency', 'VND' );
	}
	function wc_add_notice( $text, $type ) {
		$GLOBALS['stub_notices'][] = $text;
	}

	class Stub_Cart {
		public $emptied = 0;
		public function empty_cart() {
			$this->emptied++;
		}
	}
	class Stub_Gateways {
		private $all = array();
		public function payment_gateways() {
			if ( ! $this->all ) {
				foreach ( apply_filters( 'woocommerce_payment_gateways', array() ) as $class ) {
					$gateway                   = new $class();
					$this->all[ $gateway->id ] = $gateway;
				}
			}
			return $this->all;
		}
	}
	class WooCommerce {
		public $cart;
		private $gateways;
		public function __construct() {
			$this->cart     = new Stub_Cart();
			$this->gateways = new Stub_Gateways();
		}
		public function payment_gateways() {
			return $this->gateways;
		}
	}
	function WC() {
		static $one;
		if ( ! $one ) {
			$one = new WooCommerce();
		}
		return $one;
	}

	// WooCommerce does this when WordPress's init runs.
	add_action( 'init', function () {
		do_action( 'before_woocommerce_init' );
	} );
}
