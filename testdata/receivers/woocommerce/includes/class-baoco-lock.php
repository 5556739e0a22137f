<?php
/**
 * A lock for each order.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Lock lets one request at a time change the payment of an order. As the lock of
 * WordPress's own updates it is a row of the table of options, which only one request
 * can insert. The order must be read after the lock is taken.
 */
class Baoco_Lock {

	const SECONDS = 90; // A lock that is older is one of a request that died.

	/**
	 * Takes the lock of an order. It waits up to two seconds for another request.
	 *
	 * @return string A token for release(), or '' if another request has the lock.
	 */
	public static function take( $order_id ) {
		global $wpdb;
		$token = time() . '-' . wp_generate_password( 12, false );
		for ( $try = 0; $try < 20; $try++ ) {
			if ( $try > 0 ) {
				usleep( 100000 );
			}
			$old = $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value < %s", self::name( $order_id ), (string) ( time() - self::SECONDS ) );
			$wpdb->query( $old ); // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared
			$new = $wpdb->prepare( "INSERT IGNORE INTO {$wpdb->options} (option_name, option_value, autoload) VALUES (%s, %s, 'no')", self::name( $order_id ), $token );
			if ( 1 === (int) $wpdb->query( $new ) ) { // phpcs:ignore WordPress.DB.PreparedSQL.NotPrepared
				return $token;
			}
		}
		return '';
	}

	/**
	 * Gives the lock back.
	 */
	public static function release( $order_id, $token ) {
		global $wpdb;
		$wpdb->query( $wpdb->prepare( "DELETE FROM {$wpdb->options} WHERE option_name = %s AND option_value = %s", self::name( $order_id ), $token ) );
	}

	private static function name( $order_id ) {
		return 'baoco_lock_' . (int) $order_id;
	}
}
