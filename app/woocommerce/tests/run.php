<?php
// The tests of the plugin, without WordPress and WooCommerce: php tests/run.php
// They end with one line that says how many checks passed and failed.

error_reporting( E_ALL );
set_error_handler( function ( $level, $text, $file, $line ) {
	if ( error_reporting() & $level ) {
		throw new ErrorException( $text, 0, $level, $file, $line );
	}
	return false;
} );

$dir = sys_get_temp_dir() . '/baoco-plugin-' . bin2hex( random_bytes( 6 ) );
mkdir( $dir );
putenv( 'STUB_OPTIONS=' . $dir );
register_shutdown_function( function () use ( $dir ) {
	array_map( 'unlink', glob( $dir . '/*' ) );
	rmdir( $dir );
} );

require __DIR__ . '/wordpress.php';
require __DIR__ . '/woocommerce/woocommerce.php';
require dirname( __DIR__ ) . '/baoco.php';
require __DIR__ . '/fake-baoco.php';
do_action( 'rest_api_init' );
do_action( 'init' );

const SECRET = 'whsec_AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw=';
const KEY    = 'baoco_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHI';

$passed  = 0;
$failed  = 0;
$printed = ''; // All that a person or a customer could see, in which secrets are looked for.
$test    = '';

function check( $what, $got, $want = true ) {
	global $passed, $failed, $test;
	if ( $got === $want ) {
		$passed++;
		return;
	}
	$failed++;
	echo "FAIL $test: $what\n  got  " . json_encode( $got, JSON_UNESCAPED_UNICODE ) . "\n  want " . json_encode( $want, JSON_UNESCAPED_UNICODE ) . "\n";
}

/** Begins a test with an empty shop and an empty baoco. */
function test( $name ) {
	global $test, $stub_http, $stub_broken, $stub_notices, $fake, $stub_may, $stub_locale, $wpdb;
	$test = $name;
	collect();
	array_map( 'unlink', glob( getenv( 'STUB_OPTIONS' ) . '/*' ) );
	stub_new_request();
	$stub_broken  = false;
	$stub_notices = array();
	$stub_may     = true;
	$stub_locale  = 'en_US';
	$_POST        = array();
	$fake         = new Fake_Baoco( KEY );
	$stub_http    = array( $fake, 'answer' );

	$wpdb->last_error            = '';
	WC_Admin_Settings::$errors   = array();
	WC_Admin_Settings::$messages = array();
}

/** Keeps what the test showed. */
function collect() {
	global $printed, $stub_notices;
	$printed .= implode( "\n", array_merge( WC_Admin_Settings::$errors, WC_Admin_Settings::$messages, (array) $stub_notices ) );
	foreach ( glob( getenv( 'STUB_OPTIONS' ) . '/*' ) as $file ) {
		if ( 'baoco_connection' !== basename( $file ) ) {
			$printed .= file_get_contents( $file ); // Settings, orders and their notes.
		}
	}
}

/** A shop that is connected. */
function connected( array $values = array() ) {
	update_option( 'baoco_connection', array( 'address' => 'https://baoco.example.vn', 'key' => KEY, 'webhook_id' => 3, 'secret' => SECRET, 'prefix' => 'DH', 'account' => $values['bank_account'] ?? '', 'accounts' => array( 1 => 'ACB 19354957 NGUYEN VAN A' ) ), false );
	update_option( 'woocommerce_baoco_settings', $values + array( 'enabled' => 'yes', 'title' => 'VietQR', 'description' => 'Scan', 'address' => 'https://baoco.example.vn', 'api_key' => '', 'bank_account' => '', 'prefix' => 'DH', 'minutes' => '', 'paid_status' => '' ), 'yes' );
}

/** An order that waits for its payment: its request has the id 7 and the code DH10000007. */
function waiting( $total = '200000', $status = 'on-hold', $currency = 'VND' ) {
	connected();
	$order = WC_Order::make( $total, $currency, $status );
	$order->update_meta_data( '_baoco_request', array( 'id' => 7, 'code' => 'DH10000007', 'amount' => 200000, 'url' => 'https://baoco.example.vn/pay/abc', 'ends_at' => 0, 'credit' => 0, 'received' => 0 ) );
	$order->save();
	return $order->get_id();
}

/** A transfer as baoco delivers it. */
function transfer( $order_id, array $values = array(), array $state = array() ) {
	$state += array( 'id' => 7, 'reference' => (string) $order_id, 'status' => 'paid', 'due' => 200000, 'received' => 200000 );
	return $values + array( 'id' => '501', 'gateway' => 'ACB', 'transactionDate' => '2026-11-26 08:00:00', 'transactionNumber' => 'FT501', 'accountNumber' => '19354957', 'content' => 'DH10000007', 'transferType' => 'IN', 'transferAmount' => 200000, 'code' => 'DH10000007', 'payment_request' => $state, 'checksum' => 'x' );
}

/** Delivers a body in a request of its own, and gives the status. */
function deliver( $body, $signature = null ) {
	global $printed;
	stub_new_request();
	$raw     = is_string( $body ) ? $body : json_encode( $body );
	$headers = array( 'X-Webhook-Signature' => null === $signature ? hash_hmac( 'sha256', $raw, SECRET ) : $signature );
	list( $status, $answer ) = stub_rest( 'baoco/v1/webhook', new WP_REST_Request( $raw, $headers ) );
	stub_new_request();
	$printed .= json_encode( $answer );
	return $status;
}

function bring( ...$transfers ) {
	return deliver( array( 'transactions' => $transfers ) );
}

function order( $id ) {
	return wc_get_order( $id )->data();
}

function notes( $id ) {
	return get_option( 'stub_notes_' . $id, array() );
}

/** Customers and staff press a button: a request of its own. */
function pay( $id ) {
	stub_new_request();
	$result = WC()->payment_gateways()->payment_gateways()['baoco'];
	$result->init_settings();
	$result = $result->process_payment( $id );
	stub_new_request();
	return $result;
}

/** Saves the settings as the page of WooCommerce does. */
function save_settings( array $values ) {
	global $printed;
	stub_new_request();
	WC_Admin_Settings::$errors   = array();
	WC_Admin_Settings::$messages = array();
	foreach ( $values + array( 'enabled' => '1', 'title' => 'VietQR', 'description' => 'Scan', 'address' => 'https://baoco.example.vn/', 'api_key' => '', 'bank_account' => '', 'prefix' => 'dh', 'minutes' => '', 'paid_status' => '' ) as $key => $value ) {
		$_POST[ 'woocommerce_baoco_' . $key ] = $value;
	}
	$gateway = new Baoco_Gateway();
	$gateway->process_admin_options();
	ob_start();
	$gateway->admin_options();
	$page     = ob_get_clean();
	$printed .= $page;
	stub_new_request();
	return $page;
}

foreach ( array( 'signature', 'payments', 'checkout', 'connect', 'pages' ) as $file ) {
	require __DIR__ . '/test-' . $file . '.php';
}

test( 'secrets' );
check( 'the key is nowhere but in its option', false !== strpos( $printed, KEY ), false );
check( 'the secret is nowhere but in its option', false !== strpos( $printed, SECRET ) || false !== strpos( $printed, Fake_Baoco::SECRET ), false );
check( 'much was looked at', strlen( $printed ) > 20000 );

echo "$passed passed, $failed failed\n";
exit( $failed > 0 ? 1 : 0 );
