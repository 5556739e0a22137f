<?php
// The functions of WordPress that the plugin calls, as far as it needs them, for tests
// without WordPress. Options are files of a directory, so that several processes share
// them; as WordPress does, a request reads each option once.

define( 'ABSPATH', __DIR__ . '/' );

class WP_Error {
	private $code;
	private $message;
	private $data;
	public function __construct( $code = '', $message = '', $data = '' ) {
		$this->code    = $code;
		$this->message = $message;
		$this->data    = $data;
	}
	public function get_error_message() {
		return $this->message;
	}
	public function get_error_data() {
		return $this->data;
	}
}

function is_wp_error( $thing ) {
	return $thing instanceof WP_Error;
}

class WP_REST_Request {
	private $body;
	private $headers;
	public function __construct( $body, array $headers ) {
		$this->body    = $body;
		$this->headers = array_change_key_case( $headers );
	}
	public function get_body() {
		return $this->body;
	}
	public function get_header( $name ) {
		$name = strtolower( $name );
		return isset( $this->headers[ $name ] ) ? $this->headers[ $name ] : null;
	}
}

// Hooks.
$stub_hooks = array();

function add_filter( $hook, $callback, $priority = 10, $arguments = 1 ) {
	$GLOBALS['stub_hooks'][ $hook ][] = array( $callback, $arguments );
}
function add_action( $hook, $callback, $priority = 10, $arguments = 1 ) {
	add_filter( $hook, $callback, $priority, $arguments );
}
function apply_filters( $hook, $value, ...$more ) {
	foreach ( isset( $GLOBALS['stub_hooks'][ $hook ] ) ? $GLOBALS['stub_hooks'][ $hook ] : array() as list( $callback, $arguments ) ) {
		$value = $callback( ...array_slice( array_merge( array( $value ), $more ), 0, $arguments ) );
	}
	return $value;
}
function do_action( $hook, ...$values ) {
	foreach ( isset( $GLOBALS['stub_hooks'][ $hook ] ) ? $GLOBALS['stub_hooks'][ $hook ] : array() as list( $callback, $arguments ) ) {
		$callback( ...array_slice( $values, 0, $arguments ) );
	}
}

// REST routes.
$stub_routes = array();

function register_rest_route( $namespace, $route, $args ) {
	$GLOBALS['stub_routes'][ $namespace . $route ] = $args;
}
function rest_url( $path ) {
	return home_url() . '/wp-json/' . $path;
}
function stub_rest( $route, WP_REST_Request $request ) {
	$args    = $GLOBALS['stub_routes'][ $route ];
	$allowed = call_user_func( $args['permission_callback'], $request );
	$answer  = true === $allowed ? call_user_func( $args['callback'], $request ) : $allowed;
	if ( is_wp_error( $answer ) ) {
		return array( $answer->get_error_data()['status'], array( 'message' => $answer->get_error_message() ) );
	}
	return array( 200, $answer );
}

// Options, and the table of the database that they are in.
$stub_cache = array();

function stub_file( $name ) {
	return getenv( 'STUB_OPTIONS' ) . '/' . rawurlencode( $name );
}
function stub_new_request() {
	$GLOBALS['stub_cache'] = array();
}
function get_option( $name, $none = false ) {
	global $stub_cache;
	if ( ! array_key_exists( $name, $stub_cache ) ) {
		$text                = file_exists( stub_file( $name ) ) ? file_get_contents( stub_file( $name ) ) : false;
		$stub_cache[ $name ] = false === $text ? null : unserialize( $text );
	}
	return null === $stub_cache[ $name ] ? $none : $stub_cache[ $name ];
}
function update_option( $name, $value, $autoload = null ) {
	global $stub_cache, $stub_broken;
	if ( ! empty( $stub_broken ) ) {
		unset( $stub_cache[ $name ] );
		return false;
	}
	$GLOBALS['stub_autoload'][ $name ] = $autoload;
	$stub_cache[ $name ]               = $value;
	file_put_contents( stub_file( $name ) . '.new', serialize( $value ) );
	return rename( stub_file( $name ) . '.new', stub_file( $name ) );
}

function wp_cache_delete( $name, $group ) {
	unset( $GLOBALS['stub_cache'][ $name ] );
}

class Stub_DB {
	public $options    = 'wp_options';
	public $last_error = '';
	public function prepare( $query, ...$values ) {
		foreach ( $values as $value ) {
			$query = preg_replace( '/%[sd]/', "'" . str_replace( '$', '\$', addslashes( $value ) ) . "'", $query, 1 );
		}
		return $query;
	}
	public function query( $query ) {
		preg_match_all( "/'([^']*)'/", $query, $found );
		list( $name, $value ) = $found[1];
		$file = stub_file( $name );
		if ( 0 === strpos( $query, 'INSERT IGNORE' ) ) {
			$made = @fopen( $file, 'x' );
			return $made ? (int) ( fwrite( $made, $value ) > 0 ) : 0;
		}
		$kept = @file_get_contents( $file );
		$gone = false !== strpos( $query, 'option_value <' ) ? strcmp( $kept, $value ) < 0 : $kept === $value;
		return false !== $kept && '' !== $kept && $gone ? (int) @unlink( $file ) : 0;
	}
}
$wpdb = new Stub_DB();

// HTTP. A test can answer itself.
$stub_http = null;

function wp_remote_request( $url, $args ) {
	if ( $GLOBALS['stub_http'] ) {
		return $GLOBALS['stub_http']( $url, $args );
	}
	$headers = array();
	foreach ( $args['headers'] as $name => $value ) {
		$headers[] = $name . ': ' . $value;
	}
	$body = @file_get_contents(
		$url,
		false,
		stream_context_create(
			array(
				'http' => array(
					'method'          => $args['method'],
					'header'          => $headers,
					'content'         => isset( $args['body'] ) ? $args['body'] : '',
					'timeout'         => $args['timeout'],
					'follow_location' => $args['redirection'] > 0 ? 1 : 0,
					'ignore_errors'   => true,
				),
			)
		)
	);
	if ( false === $body ) {
		return new WP_Error( 'http', 'no answer' );
	}
	preg_match( '/ (\d{3})/', $http_response_header[0], $found );
	return array( 'response' => array( 'code' => (int) $found[1] ), 'body' => $body );
}
function wp_remote_retrieve_response_code( $response ) {
	return $response['response']['code'];
}
function wp_remote_retrieve_body( $response ) {
	return $response['body'];
}

// Texts and the rest.
function __( $text, $domain ) {
	return isset( $GLOBALS['stub_texts'][ $text ] ) ? $GLOBALS['stub_texts'][ $text ] : $text;
}
function esc_html__( $text, $domain ) {
	return esc_html( __( $text, $domain ) );
}
function esc_html( $text ) {
	return htmlspecialchars( $text, ENT_QUOTES );
}
function esc_url( $url ) {
	return esc_html( esc_url_raw( $url ) );
}
function esc_url_raw( $url ) {
	return preg_replace( '/[^\w:\/?#\[\]@!$&\'()*+,;=.~%-]/', '', $url );
}
function number_format_i18n( $number ) {
	return number_format( $number, 0, ',', '.' );
}
function wp_json_encode( $value ) {
	return json_encode( $value );
}
function wp_parse_url( $url, $component = -1 ) {
	return parse_url( $url, $component );
}
function wp_unslash( $value ) {
	return is_array( $value ) ? array_map( 'wp_unslash', $value ) : stripslashes( $value );
}
function untrailingslashit( $text ) {
	return rtrim( $text, '/\\' );
}
function wp_generate_password( $length, $special ) {
	return substr( bin2hex( random_bytes( $length ) ), 0, $length );
}
function home_url() {
	return isset( $_SERVER['HTTP_HOST'] ) ? 'http://' . $_SERVER['HTTP_HOST'] : 'https://shop.example.vn';
}
function determine_locale() {
	return isset( $GLOBALS['stub_locale'] ) ? $GLOBALS['stub_locale'] : 'en_US';
}
function current_user_can( $capability ) {
	return ! isset( $GLOBALS['stub_may'] ) || $GLOBALS['stub_may'];
}
function plugin_basename( $file ) {
	return 'baoco/' . basename( $file );
}
function plugins_url( $path, $file ) {
	return home_url() . '/wp-content/plugins/baoco/' . $path;
}
function load_plugin_textdomain( $domain, $deprecated, $path ) {}
function wp_register_script( $handle, $url, $needs, $version, $in_footer ) {}
