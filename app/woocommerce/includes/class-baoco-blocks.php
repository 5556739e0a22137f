<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Blocks tells the checkout block of the gateway. The payment itself goes through
 * Baoco_Gateway::process_payment(), as in the classic checkout.
 */
final class Baoco_Blocks extends \Automattic\WooCommerce\Blocks\Payments\Integrations\AbstractPaymentMethodType {

	protected $name = 'baoco';

	/** WooCommerce's own object of the gateway, or null. */
	private ?WC_Payment_Gateway $gateway = null;

	public function initialize() {
		$this->gateway = WC()->payment_gateways()->payment_gateways()['baoco'] ?? null;
	}

	public function is_active() {
		return $this->gateway && $this->gateway->is_available();
	}

	public function get_payment_method_script_handles() {
		$needs = array( 'wc-blocks-registry', 'wc-settings', 'wp-element', 'wp-html-entities' );
		wp_register_script( 'baoco-blocks', plugins_url( 'assets/blocks.js', __DIR__ ), $needs, '1.0.0', true );
		return array( 'baoco-blocks' );
	}

	public function get_payment_method_data() {
		return array(
			'title'       => $this->gateway ? $this->gateway->get_title() : '',
			'description' => $this->gateway ? $this->gateway->get_description() : '',
			'supports'    => $this->get_supported_features(),
		);
	}
}
