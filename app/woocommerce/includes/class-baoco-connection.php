<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Connection keeps what the plugin needs to talk with a baoco server. It is one
 * option that WordPress doesn't load on every page: address, key, accounts (the bank
 * accounts, by id), account (the id of the chosen one, or ''), webhook_id, secret, and
 * prefix (of the codes that this webhook reports).
 */
class Baoco_Connection {

	const OPTION = 'baoco_connection';

	/** Gives one value of the connection, or $none where there is none. */
	public static function get( string $name, $none = '' ) {
		return ( (array) get_option( self::OPTION, array() ) )[ $name ] ?? $none;
	}

	private static function keep( array $values ) {
		update_option( self::OPTION, array_merge( (array) get_option( self::OPTION, array() ), $values ), false );
	}

	/** Reports whether payment requests can be made and deliveries be verified. */
	public static function is_ready(): bool {
		return '' !== self::get( 'address' ) && '' !== self::get( 'key' ) && '' !== self::get( 'secret' );
	}

	public static function api(): Baoco_Api {
		return new Baoco_Api( self::get( 'address' ), self::get( 'key' ) );
	}

	/**
	 * Connects with a baoco server: checks the key and the bank account, makes the code
	 * pattern and the webhook if they aren't there, and has baoco send a test.
	 *
	 * @param string $account The id of the bank account; empty if baoco has only one.
	 * @return array|WP_Error
	 */
	public static function connect( Baoco_Api $api, string $prefix, string $account ) {
		$answer = $api->call( 'GET', '/bank-accounts' );
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$accounts = array();
		foreach ( $answer['bank_accounts'] as $b ) {
			$accounts[ $b['id'] ] = $b['bank'] . ' ' . $b['account_number'] . ' ' . $b['account_name'];
		}
		if ( self::get( 'address' ) !== $api->address() ) {
			self::keep( array( 'webhook_id' => 0, 'secret' => '' ) );
		}
		self::keep( array( 'address' => $api->address(), 'key' => $api->key(), 'accounts' => $accounts ) );
		if ( ! $accounts ) {
			return new WP_Error( 'baoco', __( 'No bank account is linked in baoco yet. Link one there, then save again.', 'baoco' ) );
		}
		if ( '' === $account && count( $accounts ) > 1 ) {
			return new WP_Error( 'baoco', __( 'baoco has several bank accounts. Choose the one that customers pay to, then save again.', 'baoco' ) );
		}
		if ( '' !== $account && ! isset( $accounts[ $account ] ) ) {
			return new WP_Error( 'baoco', __( 'The chosen bank account is not in baoco. Choose another one, then save again.', 'baoco' ) );
		}
		self::keep( array( 'account' => $account ) );
		foreach ( array( 'make_pattern', 'make_webhook', 'try_webhook' ) as $step ) {
			$answer = self::$step( $api, $prefix );
			if ( is_wp_error( $answer ) ) {
				return $answer;
			}
		}
		return $answer;
	}

	/**
	 * Makes the pattern by which baoco makes codes and finds them in contents. All codes
	 * have one length, so that a bank that cuts the content can't make another code of it.
	 */
	private static function make_pattern( Baoco_Api $api, string $prefix ) {
		$answer = $api->call( 'GET', '/code-patterns' );
		if ( is_wp_error( $answer ) || in_array( $prefix, array_column( $answer['code_patterns'], 'prefix' ), true ) ) {
			return $answer;
		}
		return $api->call( 'POST', '/code-patterns', array( 'prefix' => $prefix, 'min_length' => 8, 'max_length' => 8, 'alphabet' => 'digits' ) );
	}

	/** Makes the webhook to this shop, or a new secret for the one that is there. */
	private static function make_webhook( Baoco_Api $api, string $prefix ) {
		$answer = $api->call( 'GET', '/webhooks' );
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$others = array(); // To this shop, by id.
		$found  = null;
		foreach ( $answer['webhooks'] as $webhook ) {
			if ( Baoco_Webhook::url() === $webhook['webhook_url'] ) {
				$others[ $webhook['id'] ] = $webhook;
				// One that reports codes with another prefix can't be changed.
				$fits  = 0 === strpos( $prefix, $webhook['code_prefix'] ?? $prefix );
				$found = $fits && ( ! $found || self::get( 'webhook_id' ) === $webhook['id'] ) ? $webhook : $found;
			}
		}
		if ( $found && ! $found['is_active'] ) {
			return new WP_Error( 'baoco', __( 'The webhook to this shop is switched off in baoco. Switch it on there, then save again.', 'baoco' ) );
		}
		if ( ! $found ) {
			$name   = substr( 'WooCommerce ' . wp_parse_url( home_url(), PHP_URL_HOST ), 0, 100 );
			$answer = $api->call( 'POST', '/webhooks', array( 'name' => $name, 'webhook_url' => Baoco_Webhook::url(), 'type' => 'IN', 'code_prefix' => $prefix ) );
		} elseif ( self::get( 'webhook_id' ) !== $found['id'] || '' === self::get( 'secret' ) || ! empty( $found['secret_lost'] ) ) {
			$answer = $api->call( 'POST', '/webhooks/' . $found['id'] . '/rotate-secret', array( 'overlap_hours' => 0 ) );
		}
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$id = $found ? $found['id'] : $answer['webhook']['id'];
		self::keep( array( 'webhook_id' => $id, 'secret' => $answer['secret'] ?? self::get( 'secret' ), 'prefix' => $prefix ) );
		// Deliveries of the others are signed with secrets that are not known here.
		unset( $others[ $id ] );
		foreach ( array_keys( $others ) as $other ) {
			$answer = $api->call( 'DELETE', '/webhooks/' . $other );
			if ( is_wp_error( $answer ) ) {
				return $answer;
			}
		}
		return $answer;
	}

	/** Has baoco send a test, so that the merchant learns now if it can't reach the shop. */
	private static function try_webhook( Baoco_Api $api ) {
		$answer = $api->call( 'POST', '/webhooks/' . self::get( 'webhook_id' ) . '/test' );
		if ( is_wp_error( $answer ) || ! empty( $answer['success'] ) ) {
			return $answer;
		}
		$why = 'HTTP ' . ( $answer['result']['status_code'] ?? 0 ) . ', ' . ( $answer['result']['error'] ?? '' );
		/* translators: 1: the address of the webhook, 2: what went wrong */
		return new WP_Error( 'baoco', sprintf( __( 'baoco is set up, but its test did not reach this shop at %1$s (%2$s). See the history of the webhook in baoco.', 'baoco' ), Baoco_Webhook::url(), $why ) );
	}
}
