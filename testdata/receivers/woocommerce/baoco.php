<?php
/**
 * Plugin Name: baoco for WooCommerce
 * Description: Bank transfer by VietQR. An order is paid the moment your baoco server reports the money.
 * Version: 1.0.0
 * Author: The baoco authors
 * License: MIT
 * Requires at least: 6.5
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 8.2
 * WC tested up to: 11.0
 * Text Domain: baoco
 * Domain Path: /languages
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

define( 'BAOCO_FILE', __FILE__ );
define( 'BAOCO_VERSION', '1.0.0' );

require_once __DIR__ . '/includes/class-baoco-api.php';
require_once __DIR__ . '/includes/class-baoco-connection.php';
require_once __DIR__ . '/includes/class-baoco-lock.php';
require_once __DIR__ . '/includes/class-baoco-payment.php';
require_once __DIR__ . '/includes/class-baoco-webhook.php';
require_once __DIR__ . '/includes/class-baoco-pages.php';

add_action( 'rest_api_init', array( 'Baoco_Webhook', 'register' ) );
Baoco_Pages::register();

add_action(
	'init',
	function () {
		load_plugin_textdomain( 'baoco', false, dirname( plugin_basename( BAOCO_FILE ) ) . '/languages' );
	}
);

// The plugin uses WooCommerce's own methods for orders, so it works with both ways of
// storing them, and it has a part for the checkout that is made of blocks.
add_action(
	'before_woocommerce_init',
	function () {
		if ( class_exists( '\Automattic\WooCommerce\Utilities\FeaturesUtil' ) ) {
			\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( 'custom_order_tables', BAOCO_FILE, true );
			\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( 'cart_checkout_blocks', BAOCO_FILE, true );
		}
	}
);

// The class of the gateway extends one of WooCommerce's, which is there from now on.
add_filter(
	'woocommerce_payment_gateways',
	function ( $gateways ) {
		require_once __DIR__ . '/includes/class-baoco-gateway.php';
		$gateways[] = 'Baoco_Gateway';
		return $gateways;
	}
);

add_action(
	'woocommerce_blocks_payment_method_type_registration',
	function ( $registry ) {
		require_once __DIR__ . '/includes/class-baoco-blocks.php';
		$registry->register( new Baoco_Blocks() );
	}
);

// WooCommerce's REST API can write the settings of a gateway too. The key doesn't belong
// there, because that API also prints them.
add_filter(
	'woocommerce_gateway_baoco_settings_values',
	function ( $settings ) {
		unset( $settings['api_key'] );
		return $settings;
	}
);
