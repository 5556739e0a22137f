<?php
/**
 * Plugin Name: baoco for WooCommerce
 * Description: Bank transfer by VietQR. An order is paid the moment your baoco server reports the money.
 * Version: 1.0.0
 * Author: The baoco authors
 * License: MIT
 * License URI: https://opensource.org/license/mit
 * Requires at least: 6.5
 * Requires PHP: 7.4
 * Requires Plugins: woocommerce
 * WC requires at least: 8.2
 * WC tested up to: 11.0
 * Text Domain: baoco
 * Domain Path: /languages
 */

defined( 'ABSPATH' ) || exit;

foreach ( array( 'api', 'connection', 'lock', 'payment', 'webhook', 'pages' ) as $baoco_part ) {
	require_once __DIR__ . '/includes/class-baoco-' . $baoco_part . '.php';
}

add_action( 'rest_api_init', array( 'Baoco_Webhook', 'register' ) );
Baoco_Pages::register();

add_action( 'init', function () {
	load_plugin_textdomain( 'baoco', false, dirname( plugin_basename( __FILE__ ) ) . '/languages' );
} );

// The plugin reads and writes orders by WooCommerce's own methods, so it works with both
// ways of storing them, and it has a part for the checkout that is made of blocks.
add_action( 'before_woocommerce_init', function () {
	if ( class_exists( '\Automattic\WooCommerce\Utilities\FeaturesUtil' ) ) {
		\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( 'custom_order_tables', __FILE__, true );
		\Automattic\WooCommerce\Utilities\FeaturesUtil::declare_compatibility( 'cart_checkout_blocks', __FILE__, true );
	}
} );

// These two classes extend classes of WooCommerce, which are there by now.
add_filter( 'woocommerce_payment_gateways', function ( $gateways ) {
	require_once __DIR__ . '/includes/class-baoco-gateway.php';
	return array_merge( $gateways, array( 'Baoco_Gateway' ) );
} );
add_action( 'woocommerce_blocks_payment_method_type_registration', function ( $registry ) {
	require_once __DIR__ . '/includes/class-baoco-blocks.php';
	$registry->register( new Baoco_Blocks() );
} );

// WooCommerce's REST API can write the settings of a gateway too. The key doesn't belong
// there, because that API also prints them.
add_filter( 'woocommerce_gateway_baoco_settings_values', function ( $settings ) {
	unset( $settings['api_key'] );
	return $settings;
} );
