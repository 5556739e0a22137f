<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Api calls the API of one baoco server with one API key. The key is never part of
 * an error. Whoever needs it gets this object, since PHP's own errors can print the texts
 * that functions are called with.
 */
class Baoco_Api {

	private string $address; // Without a slash at its end.
	private string $key;

	public function __construct( string $address, string $key ) {
		$this->address = $address;
		$this->key     = $key;
	}

	public function address(): string {
		return $this->address;
	}

	public function key(): string {
		return $this->key;
	}

	/**
	 * Calls the API. The idempotency key makes a repeated call harmless.
	 *
	 * @return array|WP_Error The answer, or an error in baoco's own words with the HTTP status as its data.
	 */
	public function call( string $method, string $path, ?array $body = null, string $idempotency_key = '' ) {
		$request = array(
			'method'      => $method,
			'timeout'     => 15,
			'redirection' => 0, // The key goes to this address only.
			'headers'     => array(
				'Authorization'   => 'Bearer ' . $this->key,
				'Accept-Language' => 0 === strpos( determine_locale(), 'vi' ) ? 'vi' : 'en',
			),
		);
		if ( null !== $body ) {
			$request['body']                    = wp_json_encode( $body );
			$request['headers']['Content-Type'] = 'application/json';
		}
		if ( '' !== $idempotency_key ) {
			$request['headers']['Idempotency-Key'] = $idempotency_key;
		}
		$response = wp_remote_request( $this->address . '/api/v1' . $path, $request );
		if ( is_wp_error( $response ) ) {
			/* translators: %s: what went wrong */
			return new WP_Error( 'baoco', sprintf( __( 'baoco could not be reached: %s', 'baoco' ), $response->get_error_message() ), 0 );
		}
		$status = (int) wp_remote_retrieve_response_code( $response );
		$answer = json_decode( wp_remote_retrieve_body( $response ), true );
		if ( ! is_array( $answer ) || ! isset( $answer['messages'] ) || ! is_string( $answer['messages'] ) ) {
			/* translators: %d: an HTTP status such as 404 */
			return new WP_Error( 'baoco', sprintf( __( 'The answer was not that of baoco (HTTP status %d). Is the address right?', 'baoco' ), $status ), $status );
		}
		if ( $status >= 200 && $status < 300 ) {
			return $answer;
		}
		$words = 'baoco: ' . $answer['messages'];
		foreach ( (array) ( $answer['errors'] ?? array() ) as $field => $error ) {
			$words .= ' ' . $field . ': ' . ( is_string( $error ) ? $error : '?' ) . '.';
		}
		return new WP_Error( 'baoco', $words, $status );
	}
}
