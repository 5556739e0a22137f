<?php
// A shop without WordPress, for a test with a real baoco:
//
//     STUB_OPTIONS=DIR PHP_CLI_SERVER_WORKERS=4 php -S 127.0.0.1:9001 tests/site.php
//
// It has the webhook of the plugin, and /control/… for control.php.

require __DIR__ . '/wordpress.php';
require __DIR__ . '/woocommerce/woocommerce.php';
require dirname( __DIR__ ) . '/baoco.php';
require __DIR__ . '/control.php';
do_action( 'init' );
do_action( 'rest_api_init' );

$path   = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
$raw    = file_get_contents( 'php://input' );
$answer = array( 404, array() );
if ( '/wp-json/baoco/v1/webhook' === $path ) {
	$answer = stub_rest( 'baoco/v1/webhook', new WP_REST_Request( $raw, getallheaders() ) );
} elseif ( 0 === strpos( $path, '/control/' ) ) {
	$answer = array( 200, baoco_control( substr( $path, 9 ), (array) json_decode( $raw, true ) ) );
}
http_response_code( $answer[0] );
header( 'Content-Type: application/json' );
echo json_encode( $answer[1] );
