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
			update_option( 'woocommerce_currency', 'VND' );
			WC()->payment_gateways()->payment_gateways()['baoco']->process_admin_options();
			ob_start();
			WC_Admin_Settings::show_messages();
			$said = ob_get_clean();
			return array( 'connected' => false === strpos( $said, 'class="error' ), 'said' => strip_tags( $said ), 'webhook' => Baoco_Webhook::url() );
		case 'secret':
			return array( 'secret' => Baoco_Connection::get( 'secret' ) );
		case 'order':
			$order = wc_create_order();
			$order->set_currency( 'VND' );
			$order->set_payment_method( 'baoco' );
			$order->set_total( $in['total'] );
			return array( 'id' => $order->save() );
		case 'pay':
			return WC()->payment_gateways()->payment_gateways()['baoco']->process_payment( $in['id'] );
		case 'cancel':
			wc_get_order( $in['id'] )->update_status( 'cancelled' );
			return array();
		case 'change':
			$order = wc_get_order( $in['id'] );
			$order->set_total( $in['total'] );
			$order->save();
			return array();
		case 'show':
			$order   = wc_get_order( $in['id'] );
			$request = $order->get_meta( '_baoco_request' ) + array( 'id' => 0, 'code' => '', 'url' => '' );
			return array(
				'id'             => $order->get_id(),
				'status'         => $order->get_status(),
				'transaction_id' => $order->get_transaction_id(),
				'notes'          => array_column( wc_get_order_notes( array( 'order_id' => $in['id'] ) ), 'content' ),
				'code'           => $request['code'],
				'url'            => $request['url'],
				'request_id'     => $request['id'],
			);
	}
	return array( 'unknown' => $what );
}
