<?php
/**
 * The connection with a baoco server.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Connection keeps what the plugin needs to talk with baoco. It is one option that
 * WordPress doesn't load on every page: address, key, prefix, webhook_id, secret, and
 * accounts (the bank accounts, by id).
 */
class Baoco_Connection {

	const OPTION = 'baoco_connection';

	/**
	 * Gives one value of the connection, or an empty one of the same type as $none.
	 */
	public static function get( $name, $none = '' ) {
		$kept = get_option( self::OPTION, array() );
		return is_array( $kept ) && isset( $kept[ $name ] ) ? $kept[ $name ] : $none;
	}

	/**
	 * Keeps values of the connection beside those that are there.
	 */
	private static function keep( array $values ) {
		$kept = get_option( self::OPTION, array() );
		update_option( self::OPTION, array_merge( is_array( $kept ) ? $kept : array(), $values ), false );
	}

	/**
	 * Reports whether webhooks of baoco can be verified and payment requests be made.
	 */
	public static function is_ready() {
		return '' !== self::get( 'address' ) && '' !== self::get( 'key' ) && '' !== self::get( 'secret' );
	}

	/**
	 * Gives the API of the server that the plugin is connected with.
	 */
	public static function api() {
		return new Baoco_Api( self::get( 'address' ), self::get( 'key' ) );
	}

	/**
	 * Connects with a baoco server: checks the key and the bank account, and makes the
	 * code pattern and the webhook if they aren't there.
	 *
	 * @param string $address The address of the server.
	 * @param string $key     The API key.
	 * @param string $prefix  What the payment codes begin with.
	 * @param string $account The id of the bank account; empty if baoco has only one.
	 * @return true|WP_Error
	 */
	public static function connect( $address, $key, $prefix, $account ) {
		$api    = new Baoco_Api( $address, $key );
		$answer = $api->call( 'GET', '/bank-accounts' );
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$accounts = array();
		foreach ( $answer['bank_accounts'] as $b ) {
			$accounts[ (string) $b['id'] ] = $b['bank'] . ' ' . $b['account_number'] . ' ' . $b['account_name'];
		}
		if ( self::get( 'address' ) !== $address ) {
			self::keep( array( 'webhook_id' => 0, 'secret' => '' ) );
		}
		self::keep( array( 'address' => $address, 'key' => $key, 'accounts' => $accounts ) );
		if ( ! $accounts ) {
			return new WP_Error( 'baoco', __( 'No bank account is linked in baoco yet. Link one there, then save again.', 'baoco' ) );
		}
		if ( '' === $account && count( $accounts ) > 1 ) {
			return new WP_Error( 'baoco', __( 'baoco has several bank accounts. Choose the one that customers pay to, then save again.', 'baoco' ) );
		}
		if ( '' !== $account && ! isset( $accounts[ $account ] ) ) {
			return new WP_Error( 'baoco', __( 'The chosen bank account is not in baoco. Choose another one, then save again.', 'baoco' ) );
		}
		$done = self::make_pattern( $api, $prefix );
		if ( ! is_wp_error( $done ) ) {
			$done = self::make_webhook( $api, $prefix );
		}
		return is_wp_error( $done ) ? $done : self::try_webhook( $api );
	}

	/**
	 * Makes the pattern by which baoco makes codes and finds them in contents. All codes
	 * have one length, so that a bank that cuts the content can't make another code of it.
	 */
	private static function make_pattern( Baoco_Api $api, $prefix ) {
		$answer = $api->call( 'GET', '/code-patterns' );
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		if ( in_array( $prefix, array_column( $answer['code_patterns'], 'prefix' ), true ) ) {
			return true;
		}
		return $api->call( 'POST', '/code-patterns', array( 'prefix' => $prefix, 'min_length' => 8, 'max_length' => 8, 'alphabet' => 'digits' ) );
	}

	/**
	 * Makes the webhook to this shop, or gets a new secret for the one that is there.
	 */
	private static function make_webhook( Baoco_Api $api, $prefix ) {
		$answer = $api->call( 'GET', '/webhooks' );
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$found = null;
		foreach ( $answer['webhooks'] as $webhook ) {
			if ( Baoco_Webhook::url() !== $webhook['webhook_url'] ) {
				continue;
			}
			if ( ! $found || self::get( 'webhook_id' ) === $webhook['id'] ) {
				$found = $webhook;
			}
		}
		if ( $found && ! empty( $found['code_prefix'] ) && 0 !== strpos( $prefix, $found['code_prefix'] ) ) {
			// Its codes begin with the prefix of before, and baoco can't change that.
			$gone = $api->call( 'DELETE', '/webhooks/' . $found['id'] );
			if ( is_wp_error( $gone ) ) {
				return $gone;
			}
			$found = null;
		}
		if ( $found && empty( $found['is_active'] ) ) {
			return new WP_Error( 'baoco', __( 'The webhook to this shop is switched off in baoco. Switch it on there, then save again.', 'baoco' ) );
		}
		if ( $found && self::get( 'webhook_id' ) === $found['id'] && '' !== self::get( 'secret' ) && empty( $found['secret_lost'] ) ) {
			return true;
		}
		if ( $found ) {
			$answer = $api->call( 'POST', '/webhooks/' . $found['id'] . '/rotate-secret', array( 'overlap_hours' => 0 ) );
		} else {
			$answer = $api->call(
				'POST',
				'/webhooks',
				array(
					'name'        => substr( 'WooCommerce ' . wp_parse_url( home_url(), PHP_URL_HOST ), 0, 100 ),
					'webhook_url' => Baoco_Webhook::url(),
					'type'        => 'IN',
					'code_prefix' => $prefix,
				)
			);
		}
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		self::keep( array( 'webhook_id' => $found ? $found['id'] : $answer['webhook']['id'], 'secret' => $answer['secret'] ) );
		return true;
	}

	/**
	 * Has baoco send a test, so that the merchant learns now if baoco can't reach the shop.
	 */
	private static function try_webhook( Baoco_Api $api ) {
		$answer = $api->call( 'POST', '/webhooks/' . self::get( 'webhook_id' ) . '/test' );
		if ( ! is_wp_error( $answer ) && empty( $answer['success'] ) ) {
			$result = isset( $answer['result'] ) && is_array( $answer['result'] ) ? $answer['result'] : array();
			$why    = ! empty( $result['error'] ) && 'http_status' !== $result['error'] ? $result['error'] : 'HTTP ' . ( isset( $result['status_code'] ) ? $result['status_code'] : 0 );
			/* translators: 1: the address of the webhook, 2: what went wrong */
			return new WP_Error( 'baoco', sprintf( __( 'baoco is set up, but its test did not reach this shop at %1$s (%2$s). See the history of the webhook in baoco.', 'baoco' ), Baoco_Webhook::url(), $why ) );
		}
		return is_wp_error( $answer ) ? $answer : true;
	}
}
