<?php
/**
 * Removes the key, the secret and the settings when the plugin is deleted. The webhook in
 * baoco stays, and so does what is known of the payments of orders.
 *
 * @package baoco
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

delete_option( 'baoco_connection' );
delete_option( 'woocommerce_baoco_settings' );
