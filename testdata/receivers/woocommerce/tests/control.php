<?php
// What a test with a real baoco does in the shop, in WordPress and without it. It is no
// part of the plugin: it lets anybody do anything.

/**
 * Does one thing in the shop and gives what came of it.
 */
function baoco_control( $what, array $in ) {
	switch ( $what ) {
		case 'connect': // Saves the settings, as the owner does on their page.
			foreach ( $in as $name => $value ) {
				$_POST[ 'woocommerce_baoco_' . $name ] = $value;
			}
			WC()->payment_gateways()->payment_gateways()['baoco']->process_admin_options();
			return array( 'errors' => WC_Admin_Settings::$errors, 'webhook' => Baoco_Webhook::url() );
		case 'secret':
			return array( 'secret' => Baoco_Connection::get( 'secret' ) );
		case 'order':
			return array( 'id' => WC_Order::make( $in['total'] )->get_id() );
		case 'pay':
			return WC()->payment_gateways()->payment_gateways()['baoco']->process_payment( $in['id'] );
		case 'cancel':
			wc_get_order( $in['id'] )->update_status( 'cancelled' );
			return array();
		case 'change':
			wc_get_order( $in['id'] )->set( 'total', $in['total'] );
			return array();
		case 'show':
			$order   = wc_get_order( $in['id'] );
			$request = $order->get_meta( '_baoco_request' ) + array( 'id' => 0, 'code' => '', 'url' => '' );
			return array(
				'id'             => $order->get_id(),
				'status'         => $order->get_status(),
				'transaction_id' => $order->get_transaction_id(),
				'notes'          => get_option( 'stub_notes_' . $order->get_id(), array() ),
				'code'           => $request['code'],
				'url'            => $request['url'],
				'request_id'     => $request['id'],
			);
	}
	return array( 'unknown' => $what );
}
