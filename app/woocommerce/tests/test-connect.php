<?php
// What happens when the settings are saved.

$first = array( 'GET /bank-accounts', 'GET /code-patterns', 'POST /code-patterns', 'GET /webhooks', 'POST /webhooks', 'POST /webhooks/3/test' );

test( 'the first time' );
$page = save_settings( array( 'api_key' => KEY ) );
check( 'calls', $fake->names(), $first );
check( 'pattern', $fake->patterns, array( array( 'prefix' => 'DH', 'min_length' => 8, 'max_length' => 8, 'alphabet' => 'digits' ) ) );
check( 'webhook', $fake->calls[4][1], array( 'name' => 'WooCommerce shop.example.vn', 'webhook_url' => 'https://shop.example.vn/wp-json/baoco/v1/webhook', 'type' => 'IN', 'code_prefix' => 'DH' ) );
check( 'said', array( WC_Admin_Settings::$errors, WC_Admin_Settings::$messages ), array( array(), array( 'The shop is connected with baoco, and a test came through.' ) ) );
check( 'kept', get_option( 'baoco_connection' ), array( 'webhook_id' => 3, 'secret' => Fake_Baoco::SECRET, 'address' => 'https://baoco.example.vn', 'key' => KEY, 'accounts' => array( 1 => 'ACB 19354957 NGUYEN VAN A' ), 'account' => '', 'prefix' => 'DH' ) );
check( 'not loaded on every page', $stub_autoload['baoco_connection'], false );
check( 'the key is not in the settings', get_option( 'woocommerce_baoco_settings' )['api_key'], '' );
check( 'the bank account can be chosen at once', false !== strpos( $page, 'ACB 19354957 NGUYEN VAN A' ) );
check( 'ready', Baoco_Connection::is_ready() );

test( 'again' );
save_settings( array( 'api_key' => KEY ) );
$fake->calls = array();
$page        = save_settings( array() );
check( 'nothing is made twice', $fake->names(), array( 'GET /bank-accounts', 'GET /code-patterns', 'GET /webhooks', 'POST /webhooks/3/test' ) );
check( 'the key is kept', Baoco_Connection::get( 'key' ), KEY );
check( 'no field shows it', false !== strpos( $page, 'Saved. Leave empty to keep it.' ) );

test( 'the secret was lost' );
save_settings( array( 'api_key' => KEY ) );
update_option( 'baoco_connection', array( 'secret' => '' ) + get_option( 'baoco_connection' ), false );
$fake->calls = array();
save_settings( array() );
check( 'a new secret at once', $fake->calls[3][0] . json_encode( $fake->calls[3][1] ), 'POST /webhooks/3/rotate-secret{"overlap_hours":0}' );
check( 'kept', array( Baoco_Connection::get( 'secret' ), Baoco_Connection::get( 'webhook_id' ) ), array( Fake_Baoco::SECRET, 3 ) );

test( 'baoco lost the secret' );
save_settings( array( 'api_key' => KEY ) );
$fake->webhooks[0]['secret_lost'] = true;
$fake->calls                      = array();
save_settings( array() );
check( 'a new secret', $fake->names()[3], 'POST /webhooks/3/rotate-secret' );

test( 'somebody else made the webhook' );
$fake->webhooks = array( array( 'id' => 1, 'webhook_url' => 'https://other.example.vn/', 'is_active' => true ), array( 'id' => 12, 'webhook_url' => 'https://shop.example.vn/wp-json/baoco/v1/webhook', 'is_active' => true ) );
save_settings( array( 'api_key' => KEY ) );
check( 'it is used', array( Baoco_Connection::get( 'webhook_id' ), Baoco_Connection::get( 'secret' ), count( $fake->webhooks ) ), array( 12, Fake_Baoco::SECRET, 2 ) );
$fake->webhooks[1]['is_active'] = false;
save_settings( array() );
check( 'but not where it is off', WC_Admin_Settings::$errors, array( 'The webhook to this shop is switched off in baoco. Switch it on there, then save again.' ) );

test( 'several webhooks to the shop' );
save_settings( array( 'api_key' => KEY ) );
$fake->webhooks[] = array( 'id' => 2 ) + $fake->webhooks[0];
save_settings( array() );
check( 'the own one is used and stays', array( Baoco_Connection::get( 'webhook_id' ), array_column( $fake->webhooks, 'id' ) ), array( 3, array( 3 ) ) );

test( 'another prefix' );
save_settings( array( 'api_key' => KEY ) );
$fake->calls = array();
save_settings( array( 'prefix' => ' shop ' ) );
check( 'calls', $fake->names(), array( 'GET /bank-accounts', 'GET /code-patterns', 'POST /code-patterns', 'GET /webhooks', 'POST /webhooks', 'DELETE /webhooks/3', 'POST /webhooks/4/test' ) );
check( 'webhook', array( $fake->webhooks[0]['code_prefix'], Baoco_Connection::get( 'webhook_id' ), Baoco_Connection::get( 'prefix' ) ), array( 'SHOP', 4, 'SHOP' ) );
$fake->calls = array();
save_settings( array( 'prefix' => 'SHOP2' ) );
check( 'a longer one needs no other webhook', $fake->names(), array( 'GET /bank-accounts', 'GET /code-patterns', 'POST /code-patterns', 'GET /webhooks', 'POST /webhooks/4/test' ) );

test( 'another prefix, but the webhook can not be made' );
save_settings( array( 'api_key' => KEY ) );
$fake->fail['POST /webhooks'] = array( 503, array( 'status' => false, 'messages' => 'Try again.' ) );
save_settings( array( 'prefix' => 'SHOP' ) );
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
check( 'the old one stays, and codes with its prefix are made', array( $fake->webhooks[0]['code_prefix'], end( $fake->calls )[1]['prefix'] ), array( 'DH', 'DH' ) );

test( 'several bank accounts' );
$fake->accounts[] = array( 'id' => 2, 'bank' => 'VCB', 'account_number' => '0071', 'account_name' => 'NGUYEN VAN A' );
$page             = save_settings( array( 'api_key' => KEY ) );
check( 'said', WC_Admin_Settings::$errors, array( 'baoco has several bank accounts. Choose the one that customers pay to, then save again.' ) );
check( 'they can be chosen', false !== strpos( $page, 'VCB 0071' ) );
check( 'not ready', Baoco_Connection::is_ready(), false );
save_settings( array( 'bank_account' => '2' ) );
check( 'said', WC_Admin_Settings::$errors, array() );
save_settings( array( 'bank_account' => '9' ) );
check( 'said', WC_Admin_Settings::$errors, array( 'The chosen bank account is not in baoco. Choose another one, then save again.' ) );
check( 'the one of before is used', Baoco_Connection::get( 'account' ), '2' );

test( 'no bank account' );
$fake->accounts = array();
save_settings( array( 'api_key' => KEY ) );
check( 'said', WC_Admin_Settings::$errors, array( 'No bank account is linked in baoco yet. Link one there, then save again.' ) );

test( 'a wrong key' );
save_settings( array( 'api_key' => KEY ) );
save_settings( array( 'api_key' => 'baoco_wrong' ) );
check( 'said in the words of baoco', WC_Admin_Settings::$errors, array( 'baoco: The API key is wrong.' ) );
check( 'the good one is kept', Baoco_Connection::get( 'key' ), KEY );
$stub_locale = 'vi';
save_settings( array( 'api_key' => 'baoco_wrong' ) );
check( 'in Vietnamese', WC_Admin_Settings::$errors, array( 'baoco: Khoá API sai.' ) );
save_settings( array( 'api_key' => 'whsec_abc' ) );
check( 'no key', WC_Admin_Settings::$errors, array( 'Enter the address of baoco and an API key, which begins with baoco_.' ) );

foreach ( array( 'GET /bank-accounts', 'GET /code-patterns', 'POST /code-patterns', 'GET /webhooks', 'POST /webhooks', 'POST /webhooks/3/test' ) as $call ) {
	test( "baoco refuses $call" );
	$fake->fail[ $call ] = array( 403, array( 'status' => false, 'messages' => 'This API key may only read.' ) );
	save_settings( array( 'api_key' => KEY ) );
	check( 'said', array( WC_Admin_Settings::$errors, WC_Admin_Settings::$messages ), array( array( 'baoco: This API key may only read.' ), array() ) );
	check( 'no call after that', end( $fake->calls )[0], $call );
}

foreach ( array( 'HTML' => array( 200, '<html>' ), 'a redirect' => array( 301, '' ), 'JSON of others' => array( 200, array( 'ok' => true ) ) ) as $what => $answer ) {
	test( "another server answers with $what" );
	$fake->fail['GET /bank-accounts'] = $answer;
	save_settings( array( 'api_key' => KEY ) );
	check( 'said', WC_Admin_Settings::$errors, array( "The answer was not that of baoco (HTTP status $answer[0]). Is the address right?" ) );
	check( 'not ready', Baoco_Connection::is_ready(), false );
}

test( 'baoco does not reach the shop' );
$fake->reaches = false;
save_settings( array( 'api_key' => KEY ) );
check( 'said', WC_Admin_Settings::$errors, array( 'baoco is set up, but its test did not reach this shop at https://shop.example.vn/wp-json/baoco/v1/webhook (HTTP 403, http_status). See the history of the webhook in baoco.' ) );

test( 'another address' );
save_settings( array( 'api_key' => KEY ) );
$fake->fail['GET /bank-accounts'] = new WP_Error( 'http', 'refused' );
save_settings( array( 'address' => 'https://other.example.vn' ) );
check( 'the old connection is kept until the new one works', array( Baoco_Connection::get( 'address' ), Baoco_Connection::is_ready() ), array( 'https://baoco.example.vn', true ) );

test( 'wrong settings' );
save_settings( array( 'api_key' => KEY ) );
foreach ( array( 'baoco.example.vn', 'http://baoco.example.vn', 'https://lan:secret@baoco.example.vn', 'https://baoco.example.vn/?a=1', 'https://baoco.example.vn/#a', 'ftp://baoco.example.vn', 'https://', 'javascript:alert(1)', 'https://baoco.example.vn/"><script>', 'http://localhost.evil.vn' ) as $address ) {
	save_settings( array( 'address' => $address ) );
	check( "address $address", array( count( WC_Admin_Settings::$errors ), get_option( 'woocommerce_baoco_settings' )['address'] ), array( 1, 'https://baoco.example.vn' ) );
}
foreach ( array( '0', '-1', '1.5', 'x', '525601', '9999999' ) as $minutes ) {
	save_settings( array( 'minutes' => '30' ) );
	save_settings( array( 'minutes' => $minutes ) );
	check( "minutes $minutes", array( count( WC_Admin_Settings::$errors ), get_option( 'woocommerce_baoco_settings' )['minutes'] ), array( 1, '30' ) );
}
foreach ( array( '', 'D', '1DH', 'ĐH', 'ABCDEFGHIJK', 'D-H' ) as $prefix ) {
	save_settings( array( 'prefix' => $prefix ) );
	check( "prefix $prefix", array( count( WC_Admin_Settings::$errors ), get_option( 'woocommerce_baoco_settings' )['prefix'] ), array( 1, 'DH' ) );
}
foreach ( array( 'http://localhost:8080', 'http://127.0.0.1:8080', 'https://example.vn:8443/bao-co' ) as $address ) {
	connected( array( 'address' => $address ) );
	check( "address $address is good", ( new Baoco_Gateway() )->validate_address_field( 'address', $address . '/' ), $address );
}

test( 'somebody who may not' );
$stub_may = false;
save_settings( array( 'api_key' => KEY ) );
check( 'nothing happened', array( $fake->calls, get_option( 'baoco_connection' ), get_option( 'woocommerce_baoco_settings' ) ), array( array(), false, false ) );

test( 'the REST API of WooCommerce' );
check( 'it can not keep the key with the settings', apply_filters( 'woocommerce_gateway_baoco_settings_values', array( 'api_key' => KEY, 'title' => 'x' ) ), array( 'title' => 'x' ) );
