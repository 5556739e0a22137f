<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Lock lets one request at a time change the payment of an order. As the lock of
 * WordPress's own updates it is a row of the table of options, which only one request
 * can insert. The order must be read after the lock was taken.
 */
class Baoco_Lock {

	const SECONDS = 90; // An older lock is that of a request that died.

	/**
	 * Takes the lock of an order. It waits up to two seconds for another request.
	 *
	 * @return string A token for release(), or '' if another request has the lock.
	 */
	public static function take( int $order_id ): string {
		global $wpdb;
		$token = time() . '-' . wp_generate_password( 12, false );
		for ( $try = 0; $try < 20; $try++ ) {
			usleep( $try > 0 ? 100000 : 0 );
			$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value < %s", 'baoco_lock_' . $order_id, (string) ( time() - self::SECONDS ) ) );
			if ( 1 === (int) $wpdb->query( $wpdb->prepare( "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES (%s, %s, 'no')", 'baoco_lock_' . $order_id, $token ) ) ) {
				return $token;
			}
		}
		return '';
	}

	public static function release( int $order_id, string $token ) {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value = %s", 'baoco_lock_' . $order_id, $token ) );
	}
}
