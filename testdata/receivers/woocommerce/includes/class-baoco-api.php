<?php
/**
 * The API of baoco.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Api calls the API of one baoco server with one API key.
 */
class Baoco_Api {

	/**
	 * The address of the server, without a slash at its end.
	 *
	 * @var string
	 */
	private $address;

	/**
	 * The API key. It is never printed and never part of an error.
	 *
	 * @var string
	 */
	private $key;

	public function __construct( $address, $key ) {
		$this->address = $address;
		$this->key     = $key;
	}

	/**
	 * Calls the API.
	 *
	 * @param string     $method          GET, POST or DELETE.
	 * @param string     $path            What follows /api/v1.
	 * @param array|null $body            The fields to send, if any.
	 * @param string     $idempotency_key Makes a repeated call harmless.
	 * @return array|WP_Error The answer, or an error in baoco's own words with the HTTP status as its data.
	 */
	public function call( $method, $path, $body = null, $idempotency_key = '' ) {
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
		if ( $status >= 200 && $status < 300 && is_array( $answer ) && ! empty( $answer['status'] ) ) {
			return $answer;
		}
		return new WP_Error( 'baoco', self::refusal( $status, $answer ), $status );
	}

	/**
	 * Says in words why baoco refused.
	 */
	private static function refusal( $status, $answer ) {
		if ( ! is_array( $answer ) || ! isset( $answer['messages'] ) || ! is_string( $answer['messages'] ) ) {
			/* translators: %d: an HTTP status such as 404 */
			return sprintf( __( 'The answer was not that of baoco (HTTP status %d). Is the address right?', 'baoco' ), $status );
		}
		$words = $answer['messages'];
		foreach ( isset( $answer['errors'] ) && is_array( $answer['errors'] ) ? $answer['errors'] : array() as $field => $error ) {
			if ( is_string( $error ) ) {
				$words .= ' ' . $field . ': ' . $error . '.';
			}
		}
		return 'baoco: ' . $words;
	}
}
