<?php
// What is seen beside the checkout, and what the plugin says of itself.

function shown( $hook, ...$values ) {
	ob_start();
	do_action( $hook, ...$values );
	$GLOBALS['printed'] .= ob_get_contents();
	return ob_get_clean();
}

test( 'the link to the payment page' );
$id   = waiting();
$link = '<p><a class="button" href="https://baoco.example.vn/pay/abc">Pay by bank transfer (VietQR)</a></p>';
check( 'after the checkout', shown( 'woocommerce_thankyou_baoco', $id ), $link );
check( 'in the account', shown( 'woocommerce_view_order', $id ), $link );
check( 'in an e-mail', shown( 'woocommerce_email_before_order_table', wc_get_order( $id ), false, false ), $link );
check( 'in a plain e-mail', shown( 'woocommerce_email_before_order_table', wc_get_order( $id ), false, true ), "Pay by bank transfer (VietQR): https://baoco.example.vn/pay/abc\n\n" );
check( 'not in the e-mail to the shop', shown( 'woocommerce_email_before_order_table', wc_get_order( $id ), true, false ), '' );
wc_get_order( $id )->set( 'payment_method', 'cod' );
check( 'not with another gateway', shown( 'woocommerce_view_order', $id ), '' );
wc_get_order( $id )->set( 'payment_method', 'baoco' );
foreach ( array( 'processing', 'completed', 'cancelled', 'refunded' ) as $status ) {
	wc_get_order( $id )->set( 'status', $status );
	check( "not where the order is $status", shown( 'woocommerce_view_order', $id ), '' );
}
wc_get_order( $id )->set( 'status', 'on-hold' );
$order = wc_get_order( $id );
$order->update_meta_data( '_baoco_request', array( 'url' => 'https://baoco.example.vn/"><script>' ) );
$order->save();
check( 'no HTML comes through', false !== strpos( shown( 'woocommerce_view_order', $id ), '<script' ), false );
check( 'no order', shown( 'woocommerce_view_order', 999 ), '' );

test( 'an order is cancelled' );
connected();
$id = WC_Order::make( '200000' )->get_id();
pay( $id );
wc_get_order( $id )->update_status( 'cancelled' );
check( 'its payment request too', $fake->requests[7]['status'], 'cancelled' );
$fake->fail['POST /payment-requests/7/cancel'] = new WP_Error( 'http', 'refused' );
wc_get_order( $id )->update_status( 'cancelled' );
$noted = notes( $id );
check( 'or it is noted', end( $noted ), 'The payment page could not be closed. baoco could not be reached: refused' );
$other = WC_Order::make( '200000' )->get_id();
wc_get_order( $other )->update_status( 'cancelled' );
check( 'not for an order without one', notes( $other ), array( '(cancelled)' ) );

test( 'what WooCommerce is told' );
check( 'compatible', \Automattic\WooCommerce\Utilities\FeaturesUtil::$declared, array( 'custom_order_tables' => true, 'cart_checkout_blocks' => true ) );
connected();
$registry = new class() {
	public $all = array();
	public function register( $one ) {
		$one->initialize();
		$this->all[ $one->get_name() ] = $one;
	}
};
do_action( 'woocommerce_blocks_payment_method_type_registration', $registry );
$blocks  = $registry->all['baoco'];
$gateway = WC()->payment_gateways()->payment_gateways()['baoco'];
$gateway->init_settings();
check( 'active in blocks', $blocks->is_active() );
check( 'script', $blocks->get_payment_method_script_handles(), array( 'baoco-blocks' ) );
check( 'data', array_keys( $blocks->get_payment_method_data() ), array( 'title', 'description', 'supports' ) );

test( 'the translation' );
$file  = require dirname( __DIR__ ) . '/languages/baoco-vi.l10n.php';
$texts = $file['messages'];
$used  = array();
foreach ( array_merge( glob( dirname( __DIR__ ) . '/*.php' ), glob( dirname( __DIR__ ) . '/includes/*.php' ) ) as $source ) {
	preg_match_all( "/__\( '((?:[^'\\\\]|\\\\.)*)', 'baoco' \)/", file_get_contents( $source ), $found );
	$used = array_merge( $used, $found[1] );
	check( 'every text is found: ' . basename( $source ), substr_count( file_get_contents( $source ), '__( ' ), count( $found[1] ) );
}
check( 'every text has one', array_values( array_diff( array_unique( $used ), array_keys( $texts ) ) ), array() );
check( 'no text is left over', array_values( array_diff( array_keys( $texts ), $used ) ), array() );
foreach ( $texts as $english => $vietnamese ) {
	preg_match_all( '/%(?:\d\$)?[sd]/', $english, $a );
	preg_match_all( '/%(?:\d\$)?[sd]/', $vietnamese, $b );
	sort( $a[0] );
	sort( $b[0] );
	check( "the same places in “{$english}”", $b[0], $a[0] );
}
