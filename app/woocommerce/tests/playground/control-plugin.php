<?php
/**
 * Plugin Name: control.php for tests, by the REST API
 */

require_once __DIR__ . '/baoco/control.php';

// A warning in the plugin is an error of the test.
set_error_handler( function ( $level, $text, $file, $line ) {
	if ( false !== strpos( $file, 'plugins/baoco/' ) && ( error_reporting() & $level || E_DEPRECATED === $level ) ) {
		throw new ErrorException( $text, 0, $level, $file, $line );
	}
	return false;
} );

add_action( 'rest_api_init', function () {
	register_rest_route( 'control', '/(?P<what>\w+)', array(
		'methods'             => 'POST',
		'permission_callback' => '__return_true',
		'callback'            => function ( WP_REST_Request $request ) {
			wp_set_current_user( 1 );
			require_once ABSPATH . 'wp-admin/includes/plugin.php';
			$in = (array) json_decode( $request->get_body(), true );
			switch ( $request['what'] ) {
				case 'activate':
					get_role( 'administrator' )->add_cap( 'manage_woocommerce' ); // As WooCommerce does.
					// Without WooCommerce WordPress refuses the plugin.
					$alone = activate_plugin( 'baoco/baoco.php' );
					$shop  = activate_plugin( 'woocommerce/woocommerce.php' );
					$both  = activate_plugin( 'baoco/baoco.php' );
					return array( 'alone' => is_wp_error( $alone ) ? $alone->get_error_code() : '', 'shop' => $shop, 'both' => $both, 'wordpress' => get_bloginfo( 'version' ), 'php' => PHP_VERSION );
				case 'storage': // Of a real WooCommerce: its own tables for orders, or WordPress's posts.
					if ( $in['own_tables'] ) {
						wc_get_container()->get( \Automattic\WooCommerce\Internal\DataStores\Orders\DataSynchronizer::class )->create_database_tables();
					}
					update_option( 'woocommerce_custom_orders_table_enabled', $in['own_tables'] ? 'yes' : 'no' );
					return array( 'option' => get_option( 'woocommerce_custom_orders_table_enabled' ) );
				case 'stored':
					return array( 'own_tables' => \Automattic\WooCommerce\Utilities\OrderUtil::custom_orders_table_usage_is_enabled() );
				case 'translate':
					return array( 'text' => __( 'The order is paid.', 'baoco' ), 'locale' => determine_locale() );
				case 'autoloaded':
					return array( 'options' => array_values( array_filter( array_keys( wp_load_alloptions() ), function ( $name ) {
						return false !== strpos( $name, 'baoco' );
					} ) ) );
			}
			return baoco_control( $request['what'], $in );
		},
	) );
} );

// The language is that of a header, as WordPress can't install one here.
add_filter( 'locale', function ( $locale ) {
	return isset( $_SERVER['HTTP_X_LOCALE'] ) ? $_SERVER['HTTP_X_LOCALE'] : $locale;
} );
