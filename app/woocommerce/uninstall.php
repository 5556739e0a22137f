<?php
// When the plugin is deleted, the key and the secret go too. The webhook in baoco stays,
// and so does what is known of the payments of orders.
defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

delete_option( 'baoco_connection' );
delete_option( 'woocommerce_baoco_settings' );
