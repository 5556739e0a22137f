<?php
// What a transfer does to an order.

test( 'the exact amount' );
$id = waiting();
check( 'status', bring( transfer( $id ) ), 200 );
check( 'paid once', array( order( $id )['status'], order( $id )['paid'], order( $id )['transaction_id'] ), array( 'processing', 1, '501' ) );
check( 'note', notes( $id ), array( '200.000 ₫ came by transaction 501 (number FT501, code DH10000007). The order is paid.' ) );

test( 'a note is text, whatever the bank wrote' );
$id = waiting();
bring( transfer( $id, array( 'id' => '5<b>', 'transactionNumber' => '<a href="https://x.vn">FT</a>' ) ) );
check( 'note', notes( $id ), array( '200.000 ₫ came by transaction 5&lt;b&gt; (number &lt;a href=&quot;https://x.vn&quot;&gt;FT&lt;/a&gt;, code DH10000007). The order is paid.' ) );

test( 'the same delivery again and again' );
$id = waiting();
for ( $i = 0; $i < 4; $i++ ) {
	check( 'status', bring( transfer( $id ) ), 200 );
}
check( 'paid once', array( order( $id )['paid'], count( notes( $id ) ) ), array( 1, 1 ) );

test( 'too little, then the rest' );
$id    = waiting();
$first = transfer( $id, array( 'transferAmount' => 50000 ), array( 'status' => 'underpaid', 'received' => 50000 ) );
check( 'status', array( bring( $first ), bring( $first ) ), array( 200, 200 ) );
check( 'not paid', order( $id )['status'], 'on-hold' );
check( 'one note with the rest', notes( $id ), array( '50.000 ₫ came by transaction 501 (number FT501, code DH10000007). So far 50.000 ₫ of 200.000 ₫ have come; 150.000 ₫ are missing.' ) );
check( 'status', bring( transfer( $id, array( 'id' => '502', 'transferAmount' => 150000 ) ) ), 200 );
check( 'paid', array( order( $id )['status'], order( $id )['transaction_id'], count( notes( $id ) ) ), array( 'processing', '502', 2 ) );
check( 'the first once more', bring( $first ), 200 );
check( 'nothing more', array( order( $id )['paid'], count( notes( $id ) ) ), array( 1, 2 ) );

test( 'the rest is delivered before the first part' );
$id = waiting();
bring( transfer( $id, array( 'id' => '502', 'transferAmount' => 150000 ) ) );
check( 'status', bring( $first = transfer( $id, array( 'transferAmount' => 50000 ), array( 'status' => 'underpaid', 'received' => 50000 ) ) ), 200 );
check( 'paid, with one note', array( order( $id )['status'], count( notes( $id ) ) ), array( 'processing', 1 ) );

test( 'two parts out of order' );
$id = waiting();
bring( transfer( $id, array( 'id' => '502', 'transferAmount' => 50000 ), array( 'status' => 'underpaid', 'received' => 100000 ) ) );
bring( transfer( $id, array( 'id' => '501', 'transferAmount' => 50000 ), array( 'status' => 'underpaid', 'received' => 50000 ) ) );
check( 'the second note knows both', false !== strpos( notes( $id )[1], '100.000 ₫ of 200.000 ₫' ) );

test( 'too much' );
$id = waiting();
bring( transfer( $id, array( 'transferAmount' => 250000 ), array( 'status' => 'overpaid', 'received' => 250000 ) ) );
check( 'paid', order( $id )['status'], 'processing' );
check( 'note', false !== strpos( notes( $id )[0], 'That is 50.000 ₫ too much.' ) );

test( 'more money for a paid order' );
$id = waiting();
bring( transfer( $id ) );
check( 'status', bring( transfer( $id, array( 'id' => '502', 'transferAmount' => 200000 ), array( 'status' => 'overpaid', 'received' => 400000 ) ) ), 200 );
check( 'paid once', array( order( $id )['paid'], order( $id )['transaction_id'] ), array( 1, '501' ) );
check( 'note', false !== strpos( notes( $id )[1], 'The order is paid already.' ) );

test( 'too late, but nobody cancelled the order' );
$id = waiting();
bring( transfer( $id, array(), array( 'status' => 'paid_late' ) ) );
check( 'paid', order( $id )['status'], 'processing' );
check( 'note', false !== strpos( notes( $id )[0], 'It came after the payment page had ended. The order is paid.' ) );

foreach ( array( 'pending' => 'processing', 'failed' => 'processing', 'completed' => 'completed', 'processing' => 'processing', 'cancelled' => 'cancelled', 'refunded' => 'refunded', 'trash' => 'trash', 'packed' => 'packed' ) as $before => $after ) {
	foreach ( array( 'paid', 'overpaid', 'paid_late' ) as $status ) {
		test( "$status for an order that is $before" );
		$id = waiting( '200000', $before );
		check( 'answer', array( bring( transfer( $id, array(), array( 'status' => $status ) ) ), bring( transfer( $id, array(), array( 'status' => $status ) ) ) ), array( 200, 200 ) );
		check( 'status', order( $id )['status'], $after );
		check( 'one note', count( notes( $id ) ), 1 );
		check( 'completed by this', order( $id )['paid'], in_array( $before, array( 'pending', 'failed' ), true ) ? 1 : 0 );
	}
}

test( 'an order that staff moved back after it was paid' );
$id = waiting();
bring( transfer( $id ) );
wc_get_order( $id )->set( 'status', 'on-hold' );
check( 'status', bring( transfer( $id ) ), 200 );
check( 'it stays there', array( order( $id )['status'], order( $id )['paid'] ), array( 'on-hold', 1 ) );

foreach ( array( 'open', 'underpaid', 'expired', 'cancelled', 'something new' ) as $status ) {
	test( "enough money, but baoco says $status" );
	$id = waiting();
	check( 'answer', bring( transfer( $id, array(), array( 'status' => $status ) ) ), 200 );
	check( 'not paid', order( $id )['status'], 'on-hold' );
	check( 'note', false !== strpos( notes( $id )[0], 'baoco does not say that it is' ) );
}

test( 'less than baoco said before' );
$id = waiting();
bring( transfer( $id, array(), array( 'status' => 'cancelled' ) ) );
bring( transfer( $id, array( 'id' => '502', 'transferAmount' => 150000 ), array( 'received' => 150000 ) ) );
check( 'not paid', array( order( $id )['status'], count( notes( $id ) ) ), array( 'on-hold', 2 ) );

test( 'the total was raised' );
$id = waiting();
wc_get_order( $id )->set( 'total', '200001' );
check( 'answer', bring( transfer( $id ) ), 200 );
check( 'not paid', order( $id )['status'], 'on-hold' );
check( 'note', false !== strpos( notes( $id )[0], 'So far 200.000 ₫ of 200.001 ₫ have come; 1 ₫ are missing.' ) );

test( 'the total was lowered' );
$id = waiting();
wc_get_order( $id )->set( 'total', '150000.00' );
bring( transfer( $id ) );
check( 'paid', order( $id )['status'], 'processing' );
check( 'note', false !== strpos( notes( $id )[0], 'That is 50.000 ₫ too much.' ) );

test( 'baoco accepts a little less' );
$id = waiting();
bring( transfer( $id, array( 'transferAmount' => 199000 ), array( 'received' => 199000 ) ) );
check( 'not paid', order( $id )['status'], 'on-hold' );

foreach ( array( array( '200000', 'USD' ), array( '200000.50', 'VND' ), array( '', 'VND' ), array( '2e5', 'VND' ), array( '-200000', 'VND' ), array( '99999999999999', 'VND' ) ) as list( $total, $currency ) ) {
	test( "a total of $total $currency" );
	$id = waiting( $total, 'on-hold', $currency );
	check( 'answer', bring( transfer( $id ) ), 200 );
	check( 'not paid', array( order( $id )['status'], count( notes( $id ) ) ), array( 'on-hold', 1 ) );
}

test( 'another code' );
$id = waiting();
check( 'answer', array( bring( transfer( $id, array( 'code' => 'DH10000008' ) ) ), bring( transfer( $id, array( 'code' => 'DH10000008' ) ) ) ), array( 200, 200 ) );
check( 'not paid, one note', array( order( $id )['status'], count( notes( $id ) ) ), array( 'on-hold', 1 ) );
check( 'note', false !== strpos( notes( $id )[0], 'It does not carry the code of this order, which is DH10000007.' ) );

test( 'no code' );
$id = waiting();
$t  = transfer( $id );
unset( $t['code'] );
bring( $t );
check( 'not paid', order( $id )['status'], 'on-hold' );

foreach ( array( 'another request' => array( 'id' => 8 ), 'an order that is not there' => array( 'reference' => '999' ), 'no order' => array( 'reference' => '' ), 'a text' => array( 'reference' => '1042 OR 1=1' ), 'a huge number' => array( 'reference' => '99999999999999999999' ) ) as $what => $state ) {
	test( "for $what" );
	$id = waiting();
	check( 'answer', bring( transfer( $id, array(), $state ) ), 200 );
	check( 'nothing happened', array( order( $id )['status'], notes( $id ) ), array( 'on-hold', array() ) );
}

test( 'money out, and money for no request' );
$id   = waiting();
$none = transfer( $id );
unset( $none['payment_request'] );
check( 'answer', array( bring( transfer( $id, array( 'transferType' => 'OUT' ) ) ), bring( $none ) ), array( 200, 200 ) );
check( 'nothing happened', array( order( $id )['status'], notes( $id ) ), array( 'on-hold', array() ) );

test( 'an order that never had a request' );
connected();
$id = WC_Order::make( '200000' )->get_id();
check( 'answer', bring( transfer( $id ) ), 200 );
check( 'nothing happened', order( $id )['status'], 'pending' );

test( 'an earlier request of the order' );
$id    = waiting();
$order = wc_get_order( $id );
$order->update_meta_data( '_baoco_earlier_requests', array( 5, 6 ) );
$order->save();
check( 'answer', bring( transfer( $id, array( 'code' => 'DH10000006' ), array( 'id' => 6, 'status' => 'paid_late' ) ) ), 200 );
check( 'not paid', order( $id )['status'], 'on-hold' );
check( 'note', false !== strpos( notes( $id )[0], 'It is for an earlier payment page of this order.' ) );
check( 'it does not count', order( $id )['meta']['_baoco_request']['received'], 0 );

test( 'money that came for requests before counts' );
$id    = waiting();
$order = wc_get_order( $id );
$order->update_meta_data( '_baoco_request', array( 'amount' => 150000, 'credit' => 50000 ) + $order->get_meta( '_baoco_request' ) );
$order->save();
bring( transfer( $id, array( 'transferAmount' => 149999 ), array( 'received' => 149999 ) ) );
check( 'not yet', order( $id )['status'], 'on-hold' );
bring( transfer( $id, array( 'id' => '502', 'transferAmount' => 1 ), array( 'received' => 150000 ) ) );
check( 'paid', order( $id )['status'], 'processing' );

test( 'several transfers in one delivery' );
$id = waiting();
bring( transfer( 999 ), transfer( $id, array( 'id' => '502' ) ) );
check( 'paid', order( $id )['status'], 'processing' );

test( 'the status of the settings' );
$id = waiting();
connected( array( 'paid_status' => 'completed' ) );
bring( transfer( $id ) );
check( 'completed', order( $id )['status'], 'completed' );
$id = waiting();
connected( array( 'paid_status' => 'completed' ) );
wc_get_order( $id )->set( 'payment_method', 'cod' );
bring( transfer( $id ) );
check( 'not where the customer changed to another gateway', order( $id )['status'], 'processing' );

test( 'the order can not be saved' );
$id          = waiting();
$stub_broken = true;
check( 'answer', bring( transfer( $id ) ), 503 );
$stub_broken = false;
stub_new_request();
check( 'not paid', order( $id )['status'], 'on-hold' );
check( 'the next attempt', bring( transfer( $id ) ), 200 );
check( 'paid', order( $id )['status'], 'processing' );
$stub_broken = true;
check( 'one that is only noted', bring( transfer( $id, array( 'id' => '502' ), array( 'received' => 400000 ) ) ), 503 );

test( 'the order can not be completed' );
$id                   = waiting();
$stub_never_completes = true;
check( 'answer', bring( transfer( $id ) ), 503 );
check( 'nothing happened', array( order( $id )['status'], notes( $id ) ), array( 'on-hold', array() ) );
$stub_never_completes = false;
check( 'the next attempt', array( bring( transfer( $id ) ), order( $id )['status'] ), array( 200, 'processing' ) );

test( 'the order can not be read' );
$id               = waiting();
$wpdb->last_error = 'gone away';
check( 'answer', bring( transfer( 999 ) ), 503 );

test( 'the request died after the order was paid' );
$id = waiting();
wc_get_order( $id )->payment_complete( '501' );
check( 'answer', bring( transfer( $id ) ), 200 );
check( 'no note that more money came', array( order( $id )['paid'], notes( $id ) ), array( 1, array() ) );

test( 'another request has the lock' );
$id    = waiting();
$token = Baoco_Lock::take( $id );
check( 'answer', bring( transfer( $id ) ), 503 );
check( 'nothing happened', array( order( $id )['status'], notes( $id ) ), array( 'on-hold', array() ) );
Baoco_Lock::release( $id, 'not mine' );
check( 'only its owner releases it', Baoco_Lock::take( $id ), '' );
Baoco_Lock::release( $id, $token );
check( 'answer', bring( transfer( $id ) ), 200 );
check( 'paid', order( $id )['status'], 'processing' );

test( 'a lock of a request that died' );
$id = waiting();
file_put_contents( stub_file( 'baoco_lock_' . $id ), ( time() - 100 ) . '-abc' );
check( 'answer', bring( transfer( $id ) ), 200 );
check( 'paid', order( $id )['status'], 'processing' );
check( 'no lock is left', glob( getenv( 'STUB_OPTIONS' ) . '/baoco_lock_*' ), array() );

test( 'a refund is no order' );
connected();
update_option( 'stub_order_77', array( 'id' => 77 ), false ); // WooCommerce gives an object of another class.
check( 'answer', bring( transfer( 77 ) ), 200 );
