<?php
// A baoco for the tests: its API, as far as the plugin calls it.

class Fake_Baoco {
	const SECRET = 'whsec_bmV3IHNlY3JldCBvZiB0aGUgZmFrZSBiYW9jbyAgICA=';

	public $key;
	public $calls      = array(); // "METHOD path", with what was sent.
	public $accounts   = array( array( 'id' => 1, 'bank' => 'ACB', 'account_number' => '19354957', 'account_name' => 'NGUYEN VAN A' ) );
	public $patterns   = array();
	public $webhooks   = array();
	public $requests   = array();
	public $by_key     = array(); // Payment requests by idempotency key.
	public $fail       = array(); // "METHOD path" => array( status, body ).
	public $next_webhook = 3;
	public $reaches    = true;    // Whether its test reaches the shop.
	public $while_busy = null;    // Is called while baoco makes a payment request.

	public function __construct( $key ) {
		$this->key = $key;
	}

	public function names() {
		return array_column( $this->calls, 0 );
	}

	public function answer( $url, $args ) {
		$path          = preg_replace( '#^https://(baoco|other)\.example\.vn/api/v1#', '', $url );
		$name          = $args['method'] . ' ' . $path;
		$body          = isset( $args['body'] ) ? json_decode( $args['body'], true ) : null;
		$this->calls[] = array( $name, $body, $args );
		if ( isset( $this->fail[ $name ] ) ) {
			if ( is_wp_error( $this->fail[ $name ] ) ) {
				return $this->fail[ $name ];
			}
			list( $status, $text ) = $this->fail[ $name ];
		} elseif ( 'Bearer ' . $this->key !== $args['headers']['Authorization'] ) {
			list( $status, $text ) = array( 401, array( 'status' => false, 'code' => 'unauthorized', 'messages' => 'vi' === $args['headers']['Accept-Language'] ? 'Khoá API sai.' : 'The API key is wrong.' ) );
		} else {
			list( $status, $text ) = $this->route( $name, $body, $args );
			$text                  = $text + array( 'status' => $status < 300, 'messages' => 'Words.' );
		}
		return array( 'response' => array( 'code' => $status ), 'body' => is_string( $text ) ? $text : json_encode( $text ) );
	}

	private function route( $name, $body, $args ) {
		switch ( preg_replace( '#/\d+#', '/N', $name ) ) {
			case 'GET /bank-accounts':
				return array( 200, array( 'bank_accounts' => $this->accounts ) );
			case 'GET /code-patterns':
				return array( 200, array( 'code_patterns' => $this->patterns ) );
			case 'POST /code-patterns':
				$this->patterns[] = $body;
				return array( 201, array( 'code_pattern' => $body ) );
			case 'GET /webhooks':
				return array( 200, array( 'webhooks' => $this->webhooks ) );
			case 'POST /webhooks':
				$this->webhooks[] = $body + array( 'id' => $this->next_webhook++, 'is_active' => true );
				return array( 201, array( 'webhook' => end( $this->webhooks ), 'secret' => self::SECRET ) );
			case 'POST /webhooks/N/rotate-secret':
				return array( 200, array( 'secret' => self::SECRET ) );
			case 'DELETE /webhooks/N':
				$this->webhooks = array_values( array_filter( $this->webhooks, function ( $webhook ) use ( $name ) {
					return 'DELETE /webhooks/' . $webhook['id'] !== $name;
				} ) );
				return array( 200, array() );
			case 'POST /webhooks/N/test':
				return array( 200, array( 'success' => $this->reaches, 'result' => array( 'status_code' => $this->reaches ? 200 : 403, 'error' => $this->reaches ? null : 'http_status' ) ) );
			case 'POST /payment-requests':
				if ( $this->while_busy ) {
					call_user_func( $this->while_busy );
				}
				$key = $args['headers']['Idempotency-Key'];
				if ( ! isset( $this->by_key[ $key ] ) ) {
					$id                    = 7 + count( $this->requests );
					$this->requests[ $id ] = array( 'id' => $id, 'status' => 'open', 'code' => 'DH1000000' . $id, 'amount' => $body['amount'], 'received' => 0, 'url_path' => '/pay/token' . $id );
					$this->by_key[ $key ]  = $id;
				}
				return array( 201, array( 'payment_request' => $this->requests[ $this->by_key[ $key ] ] ) );
			case 'GET /payment-requests/N':
			case 'POST /payment-requests/N/cancel':
				preg_match( '#/(\d+)#', $name, $found );
				if ( ! isset( $this->requests[ $found[1] ] ) ) {
					return array( 404, array( 'code' => 'not_found' ) );
				}
				$r = &$this->requests[ $found[1] ];
				if ( 'P' === $name[0] && in_array( $r['status'], array( 'paid', 'overpaid', 'paid_late' ), true ) ) {
					return array( 409, array( 'code' => 'conflict' ) );
				}
				if ( 'P' === $name[0] ) {
					$r['status'] = 'cancelled';
				}
				return array( 200, array( 'payment_request' => $r ) );
		}
		throw new Exception( 'the plugin called ' . $name );
	}
}
