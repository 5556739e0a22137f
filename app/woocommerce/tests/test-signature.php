<?php
// What is let in at the webhook.

test( 'a right signature' );
$id = waiting();
check( 'status', bring( transfer( $id ) ), 200 );
check( 'paid', order( $id )['status'], 'processing' );

test( 'a wrong signature' );
$id   = waiting();
$body = json_encode( array( 'transactions' => array( transfer( $id ) ) ) );
$good = hash_hmac( 'sha256', $body, SECRET );
foreach ( array( '', 'x', strtoupper( $good ), 'sha256=' . $good, $good . "\n", hash_hmac( 'sha256', $body, '' ), hash_hmac( 'sha256', $body, substr( SECRET, 6 ) ), hash_hmac( 'sha256', $body . ' ', SECRET ) ) as $signature ) {
	check( 'status with ' . json_encode( $signature ), deliver( $body, $signature ), 401 );
}
check( 'another body', deliver( str_replace( '200000', '900000', $body ), $good ), 401 );
check( 'nothing happened', array( order( $id )['status'], notes( $id ) ), array( 'on-hold', array() ) );

test( 'a shop without a secret lets nobody in' );
$id = waiting();
update_option( 'baoco_connection', array( 'secret' => '' ), false );
check( 'status', deliver( $body, hash_hmac( 'sha256', $body, '' ) ), 401 );
check( 'not paid', order( $id )['status'], 'on-hold' );

test( 'the bytes as they came are verified' );
$id  = waiting();
$raw = str_replace( ',"checksum"', " ,\n\t\"checksum\"", json_encode( array( 'transactions' => array( transfer( $id, array( 'content' => "Thanh toán \u{2028} / DH10000007" ) ) ) ), JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_LINE_TERMINATORS ) );
check( 'status', deliver( $raw ), 200 );
check( 'paid', order( $id )['status'], 'processing' );

test( 'a test of baoco' );
$id = waiting();
check( 'status', deliver( array( 'test' => true, 'transactions' => array( transfer( $id, array( 'transferAmount' => 0 ) ) ) ) ), 200 );
check( 'nothing happened', array( order( $id )['status'], notes( $id ) ), array( 'on-hold', array() ) );

test( 'a signed body that is no delivery' );
$id   = waiting();
$odd  = array( '', 'null', '1', '"x"', '[]', '{}', '{"transactions":1}', '{"transactions":[1]}', '{"transactions":["x"]}', '{"transactions":[{}]}' );
foreach ( array( 'id' => 501, 'transferType' => array(), 'transferAmount' => '200000', 'code' => 7, 'transactionNumber' => array( 'x' ), 'payment_request' => 'x' ) as $name => $value ) {
	$odd[] = json_encode( array( 'transactions' => array( transfer( $id, array( $name => $value ) ) ) ) );
}
foreach ( array( 'id' => '7', 'reference' => 1042, 'status' => null, 'received' => 1.5 ) as $name => $value ) {
	$odd[] = json_encode( array( 'transactions' => array( transfer( $id, array(), array( $name => $value ) ) ) ) );
}
foreach ( $odd as $body ) {
	check( 'status of ' . $body, deliver( $body ), 400 );
}
check( 'a good transfer before an odd one', deliver( array( 'transactions' => array( transfer( $id ), 1 ) ) ), 400 );
check( 'nothing happened', array( order( $id )['status'], notes( $id ) ), array( 'on-hold', array() ) );
