<?php
// What happens when a customer pays.

test( 'the first time' );
connected( array( 'bank_account' => '1', 'minutes' => '30' ) );
$id     = WC_Order::make( '200000.00' )->get_id();
$before = WC()->cart->emptied;
check( 'result', pay( $id ), array( 'result' => 'success', 'redirect' => 'https://baoco.example.vn/pay/token7' ) );
check( 'calls', $fake->names(), array( 'POST /payment-requests' ) );
check( 'fields', $fake->calls[0][1], array( 'prefix' => 'DH', 'return_url' => 'https://shop.example.vn/thanh-toan/c%E1%BA%A3m-%C6%A1n/' . $id . '/?key=wc_order_' . $id, 'bank_account_id' => 1, 'expires_in' => 30, 'amount' => 200000, 'reference' => (string) $id ) );
check( 'no redirect is followed with the key', $fake->calls[0][2]['redirection'], 0 );
check( 'it does not wait for ever', $fake->calls[0][2]['timeout'] <= 15 );
check( 'on hold', order( $id )['status'], 'on-hold' );
check( 'note', notes( $id ), array( 'Waiting for the bank transfer. (on-hold)' ) );
check( 'the cart is empty', WC()->cart->emptied, $before + 1 );
$kept = order( $id )['meta']['_baoco_request'];
check( 'ends', $kept['ends_at'] >= time() + 1799 && $kept['ends_at'] <= time() + 1800 );
unset( $kept['ends_at'] );
check( 'kept', $kept, array( 'id' => 7, 'code' => 'DH10000007', 'amount' => 200000, 'url' => 'https://baoco.example.vn/pay/token7', 'credit' => 0, 'received' => 0 ) );
check( 'no lock is left', glob( getenv( 'STUB_OPTIONS' ) . '/baoco_lock_*' ), array() );

test( 'the transfer for it' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
bring( transfer( $id ) );
check( 'paid', order( $id )['status'], 'processing' );

test( 'once more' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$fake->requests[7] = array( 'status' => 'underpaid', 'received' => 50000 ) + $fake->requests[7];
check( 'the same page', pay( $id )['redirect'], 'https://baoco.example.vn/pay/token7' );
check( 'one request', count( $fake->requests ), 1 );
check( 'no field that is not set', array_keys( $fake->calls[0][1] ), array( 'prefix', 'return_url', 'amount', 'reference' ) );

test( 'the answer got lost' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$order = wc_get_order( $id );
$order->update_meta_data( '_baoco_request', '' );
$order->save();
check( 'the same page', pay( $id )['redirect'], 'https://baoco.example.vn/pay/token7' );
$other = WC_Order::make( '200000' )->get_id();
check( 'another page for another order', pay( $other )['redirect'], 'https://baoco.example.vn/pay/token8' );

test( 'the money came already' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$fake->requests[7] = array( 'status' => 'paid', 'received' => 200000 ) + $fake->requests[7];
bring( transfer( $id ) );
check( 'the page says so', pay( $id )['redirect'], 'https://baoco.example.vn/pay/token7' );
check( 'never moved back', order( $id )['status'], 'processing' );

test( 'the total changed' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
wc_get_order( $id )->set( 'total', '250000' );
wc_get_order( $id )->set( 'status', 'pending' );
check( 'another page', pay( $id )['redirect'], 'https://baoco.example.vn/pay/token8' );
check( 'calls', $fake->names(), array( 'POST /payment-requests', 'GET /payment-requests/7', 'POST /payment-requests/7/cancel', 'POST /payment-requests' ) );
check( 'the old one is cancelled', array( $fake->requests[7]['status'], $fake->requests[8]['amount'] ), array( 'cancelled', 250000 ) );
check( 'kept', array( order( $id )['meta']['_baoco_request']['id'], order( $id )['meta']['_baoco_earlier_requests'] ), array( 8, array( 7 ) ) );
bring( transfer( $id, array(), array( 'status' => 'paid_late' ) ) );
check( 'money for the old page is only noted', order( $id )['status'], 'on-hold' );

test( 'the total changed after a part had come' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
bring( transfer( $id, array( 'transferAmount' => 50000 ), array( 'status' => 'underpaid', 'received' => 50000 ) ) );
$fake->requests[7] = array( 'status' => 'underpaid', 'received' => 50000 ) + $fake->requests[7];
wc_get_order( $id )->set( 'total', '250000' );
pay( $id );
check( 'the rest is asked for', $fake->requests[8]['amount'], 200000 );
check( 'the same page as long as it fits', array( pay( $id )['redirect'], count( $fake->requests ) ), array( 'https://baoco.example.vn/pay/token8', 2 ) );
bring( transfer( $id, array( 'id' => '502', 'code' => 'DH10000008' ), array( 'id' => 8 ) ) );
check( 'paid', order( $id )['status'], 'processing' );

test( 'the total changed twice' );
connected();
$id = WC_Order::make( '200000' )->get_id();
foreach ( array( 7 => '250000', 8 => '300000' ) as $request => $total ) {
	pay( $id );
	$fake->requests[ $request ] = array( 'status' => 'underpaid', 'received' => 50000 ) + $fake->requests[ $request ];
	wc_get_order( $id )->set( 'total', $total );
}
pay( $id );
check( 'all that came counts', $fake->requests[9]['amount'], 200000 );
check( 'all requests are known', order( $id )['meta']['_baoco_earlier_requests'], array( 7, 8 ) );

test( 'another shop with the same number' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$order = wc_get_order( $id );
$order->update_meta_data( '_baoco_request', '' );
$order->set( 'order_key', 'wc_order_of_another_shop' );
check( 'gets a request of its own', array( pay( $id )['result'], count( $fake->by_key ) ), array( 'success', 2 ) );

test( 'the total was raised after all had come' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$fake->requests[7] = array( 'status' => 'paid', 'received' => 200000 ) + $fake->requests[7];
wc_get_order( $id )->set( 'total', '250000' );
pay( $id );
check( 'the rest is asked for', $fake->requests[8]['amount'], 50000 );

test( 'the total was lowered to what had come' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$fake->requests[7] = array( 'status' => 'underpaid', 'received' => 50000 ) + $fake->requests[7];
wc_get_order( $id )->set( 'total', '50000' );
wc_get_order( $id )->set( 'status', 'pending' );
check( 'back to the shop', pay( $id ), array( 'result' => 'success', 'redirect' => 'https://shop.example.vn/thanh-toan/cảm-ơn/' . $id . '/?key=wc_order_' . $id ) );
check( 'on hold, with a note', array( order( $id )['status'], false !== strpos( notes( $id )[1], 'Enough money came' ) ), array( 'on-hold', true ) );

foreach ( array( 'expired', 'cancelled' ) as $status ) {
	test( "the page is $status" );
	connected();
	$id = WC_Order::make( '200000' )->get_id();
	pay( $id );
	$fake->requests[7]['status'] = $status;
	check( 'another page', pay( $id )['redirect'], 'https://baoco.example.vn/pay/token8' );
}

test( 'the page ended after a part had come' );
connected( array( 'minutes' => '30' ) );
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$fake->requests[7] = array( 'status' => 'underpaid', 'received' => 50000 ) + $fake->requests[7];
check( 'not ended yet', pay( $id )['redirect'], 'https://baoco.example.vn/pay/token7' );
$order = wc_get_order( $id );
$order->update_meta_data( '_baoco_request', array( 'ends_at' => time() - 1 ) + $order->get_meta( '_baoco_request' ) );
$order->save();
check( 'another page for the rest', array( pay( $id )['redirect'], $fake->requests[8]['amount'] ), array( 'https://baoco.example.vn/pay/token8', 150000 ) );

test( 'another baoco since' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
$fake->requests = array();
$fake->by_key   = array();
check( 'another page', pay( $id )['redirect'], 'https://baoco.example.vn/pay/token7' );

foreach ( array( array( '200000', 'USD' ), array( '199999.50', 'VND' ) ) as list( $total, $currency ) ) {
	test( "a total of $total $currency" );
	connected();
	$id = WC_Order::make( $total, $currency )->get_id();
	check( 'refused', pay( $id ), array( 'result' => 'failure' ) );
	check( 'nothing was asked for', array( $fake->calls, order( $id )['status'], count( $stub_notices ) ), array( array(), 'pending', 1 ) );
}

test( 'baoco is away' );
connected();
$fake->fail['POST /payment-requests'] = new WP_Error( 'http', 'cURL error 28: timed out' );
$id                                   = WC_Order::make( '200000' )->get_id();
$before                               = WC()->cart->emptied;
check( 'refused', pay( $id ), array( 'result' => 'failure' ) );
check( 'the customer', $stub_notices, array( 'The payment page could not be opened. Please try again, or choose another way of paying.' ) );
check( 'the shop', notes( $id ), array( 'The payment page could not be made. baoco could not be reached: cURL error 28: timed out' ) );
check( 'the order and the cart stay', array( order( $id )['status'], WC()->cart->emptied ), array( 'pending', $before ) );
check( 'no lock is left', glob( getenv( 'STUB_OPTIONS' ) . '/baoco_lock_*' ), array() );
$fake->fail = array();
check( 'then it works', pay( $id )['result'], 'success' );

foreach ( array( 'GET /payment-requests/7', 'POST /payment-requests/7/cancel' ) as $call ) {
	test( "baoco is away at $call" );
	connected();
	$id = WC_Order::make( '200000' )->get_id();
	pay( $id );
	wc_get_order( $id )->set( 'total', '250000' );
	$fake->fail[ $call ] = array( 503, array( 'status' => false, 'messages' => 'Try again.' ) );
	check( 'refused', pay( $id ), array( 'result' => 'failure' ) );
	check( 'no second request', count( $fake->requests ), 1 );
}

test( 'baoco refuses' );
connected();
$fake->fail['POST /payment-requests'] = array( 422, array( 'status' => false, 'messages' => 'Some fields are wrong.', 'errors' => array( 'bank_account_id' => 'is required' ) ) );
$id                                   = WC_Order::make( '200000' )->get_id();
pay( $id );
check( 'the shop', notes( $id ), array( 'The payment page could not be made. baoco: Some fields are wrong. bank_account_id: is required.' ) );

test( 'two clicks at once' );
connected();
$id               = WC_Order::make( '200000' )->get_id();
$second           = null;
$fake->while_busy = function () use ( $id, &$second, $fake ) {
	$fake->while_busy = null;
	$second           = pay( $id );
};
check( 'the first', pay( $id )['result'], 'success' );
check( 'the second waits its turn', $second, array( 'result' => 'failure' ) );
check( 'one request', count( $fake->requests ), 1 );

test( 'who sees the gateway' );
connected();
$gateway = new Baoco_Gateway();
check( 'customers', array( $gateway->is_available(), $gateway->needs_setup() ), array( true, false ) );
update_option( 'woocommerce_currency', 'USD' );
check( 'not in another currency', $gateway->is_available(), false );
update_option( 'woocommerce_currency', 'VND' );
update_option( 'baoco_connection', array( 'address' => 'https://baoco.example.vn', 'key' => KEY ), false );
check( 'not before it is connected', array( $gateway->is_available(), $gateway->needs_setup() ), array( false, true ) );
connected( array( 'enabled' => 'no' ) );
$gateway = new Baoco_Gateway();
check( 'not where it is off', $gateway->is_available(), false );
