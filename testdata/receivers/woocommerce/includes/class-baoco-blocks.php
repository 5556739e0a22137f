<?php
/**
 * The gateway in the checkout that is made of blocks.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Blocks tells the checkout block of the gateway. The payment itself goes through
 * Baoco_Gateway::process_payment(), as in the classic checkout.
 */
final class Baoco_Blocks extends \Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType {

	/**
	 * The id of the gateway.
	 *
	 * @var string
	 */
	protected $name = 'baoco';

	public function initialize() {
		$this->settings = get_option( 'woocommerce_baoco_settings', array() );
	}

	/**
	 * Gives WooCommerce's own object of the gateway, or null.
	 */
	private function gateway() {
		$gateways = WC()->payment_gateways()->payment_gateways();
		return isset( $gateways['baoco'] ) ? $gateways['baoco'] : null;
	}

	public function is_active() {
		return $this->gateway() && $this->gateway()->is_available();
	}

	public function get_payment_method_script_handles() {
		wp_register_script(
			'baoco-blocks',
			plugins_url( 'assets/blocks.js', BAOCO_FILE ),
			array( 'wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities' ),
			BAOCO_VERSION,
			true
		);
		return array( 'baoco-blocks' );
	}

	public function get_payment_method_data() {
		return array(
			'title'       => $this->gateway() ? $this->gateway()->get_title() : '',
			'description' => $this->gateway() ? $this->gateway()->get_description() : '',
			'supports'    => $this->get_supported_features(),
		);
	}
}
