<?php
/**
 * The payment of one order.
 *
 * @package baoco
 */

defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Payment asks baoco for the payment of an order, and decides what a transfer does
 * to the order. What it keeps is in the order's own meta data. Whoever calls it has the
 * lock of the order.
 */
class Baoco_Payment {

	/**
	 * The payment request that the customer pays now: id, code, amount, url, ends_at (a
	 * Unix time, or 0), credit (what came for the requests before it), received (the most
	 * that baoco said has come for this one).
	 */
	const REQUEST = '_baoco_request';

	/** The ids of the payment requests before it. */
	const EARLIER = '_baoco_earlier_requests';

	/** The ids of the transactions that were handled. */
	const TRANSACTIONS = '_baoco_transactions';

	/**
	 * Gives the total of an order in dong, or null if it isn't a whole amount in dong.
	 */
	public static function total( WC_Order $order ) {
		if ( 'VND' !== $order->get_currency() || ! preg_match( '/^(\d{1,13})(\.0+)?$/', (string) $order->get_total(), $found ) ) {
			return null;
		}
		return (int) $found[1];
	}

	/**
	 * Gives a kept value of an order that is an array.
	 */
	private static function kept( WC_Order $order, $name ) {
		$value = $order->get_meta( $name );
		return is_array( $value ) ? $value : array();
	}

	/**
	 * Gives the address of the page on which the customer pays an order, if it has one.
	 */
	public static function page( WC_Order $order ) {
		$request = self::kept( $order, self::REQUEST );
		return isset( $request['url'] ) ? $request['url'] : '';
	}

	/**
	 * Makes a payment request for an order, unless it has one for the same total that can
	 * still be paid. One that can't is cancelled, and what came for it counts.
	 *
	 * @param WC_Order $order      The order.
	 * @param array    $fields     Further fields of the payment request: prefix, bank_account_id, expires_in.
	 * @return string|WP_Error The address of the page, or '' if nothing is left to pay.
	 */
	public static function ask( WC_Order $order, array $fields ) {
		$api     = Baoco_Connection::api();
		$before  = self::kept( $order, self::REQUEST );
		$earlier = self::kept( $order, self::EARLIER );
		$credit  = 0;
		if ( $before ) {
			$answer = $api->call( 'GET', '/payment-requests/' . $before['id'] );
			if ( is_wp_error( $answer ) && 404 !== $answer->get_error_data() ) {
				return $answer;
			}
			// 404: the shop was connected with another baoco since.
			$credit = $before['credit'];
			if ( ! is_wp_error( $answer ) ) {
				$state  = $answer['payment_request'];
				$ended  = in_array( $state['status'], array( 'expired', 'cancelled' ), true ) || 'underpaid' === $state['status'] && $before['ends_at'] && time() > $before['ends_at'];
				if ( ! $ended && $before['amount'] + $before['credit'] === self::total( $order ) ) {
					return $before['url'];
				}
				$answer = $api->call( 'POST', '/payment-requests/' . $before['id'] . '/cancel' );
				if ( is_wp_error( $answer ) && 409 !== $answer->get_error_data() ) {
					return $answer;
				}
				// 409: it is paid, so it can't be cancelled, and nothing more is asked for.
				$credit += is_wp_error( $answer ) ? $state['received'] : $answer['payment_request']['received'];
			}
			$earlier[] = $before['id'];
		}
		$amount = self::total( $order ) - $credit;
		if ( $amount <= 0 ) {
			return '';
		}
		$fields += array( 'amount' => $amount, 'reference' => (string) $order->get_id() );
		// A call whose answer got lost gives the same payment request when it is repeated.
		$key    = hash( 'sha256', $order->get_order_key() . wp_json_encode( array( $fields, $before ? $before['id'] : 0 ) ) );
		$answer = $api->call( 'POST', '/payment-requests', $fields, $key );
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$made = $answer['payment_request'];
		$url  = Baoco_Connection::get( 'address' ) . $made['url_path'];
		$order->update_meta_data(
			self::REQUEST,
			array(
				'id'       => $made['id'],
				'code'     => $made['code'],
				'amount'   => $amount,
				'url'      => $url,
				'ends_at'  => isset( $fields['expires_in'] ) ? time() + 60 * $fields['expires_in'] : 0,
				'credit'   => $credit,
				'received' => 0,
			)
		);
		$order->update_meta_data( self::EARLIER, $earlier );
		$order->save();
		return $url;
	}

	/**
	 * Cancels the payment request of an order that was cancelled, so that nobody pays it.
	 */
	public static function cancel( WC_Order $order ) {
		$request = self::kept( $order, self::REQUEST );
		if ( $request && Baoco_Connection::is_ready() ) {
			$answer = Baoco_Connection::api()->call( 'POST', '/payment-requests/' . $request['id'] . '/cancel' );
			if ( is_wp_error( $answer ) ) {
				/* translators: %s: what went wrong */
				$order->add_order_note( sprintf( __( 'The payment page could not be closed. %s', 'baoco' ), $answer->get_error_message() ) );
			}
		}
	}

	/**
	 * Reports whether a payment request is or was one of an order.
	 */
	public static function has( WC_Order $order, $request_id ) {
		$request = self::kept( $order, self::REQUEST );
		return $request && ( $request['id'] === $request_id || in_array( $request_id, self::kept( $order, self::EARLIER ), true ) );
	}

	/**
	 * Handles a transfer that baoco matched with a payment request of an order. A transfer
	 * that was handled before changes nothing.
	 *
	 * @param WC_Order $order    The order, read after its lock was taken.
	 * @param array    $transfer An element of a verified delivery.
	 * @return bool Whether all that had to be kept was kept.
	 */
	public static function handle( WC_Order $order, array $transfer ) {
		$handled = self::kept( $order, self::TRANSACTIONS );
		if ( in_array( $transfer['id'], $handled, true ) ) {
			return true;
		}
		$request = self::kept( $order, self::REQUEST );
		$pays    = false;
		$note    = self::decide( $order, $request, $transfer, $pays );
		if ( $pays ) {
			$order->payment_complete( $transfer['id'] );
			$order = wc_get_order( $order->get_id() );
			if ( ! $order || $order->get_transaction_id() !== $transfer['id'] ) {
				return false;
			}
		}
		if ( '' !== $note ) {
			$order->add_order_note( $note );
		}
		if ( $transfer['payment_request']['id'] === $request['id'] ) {
			$request['received'] = max( $request['received'], $transfer['payment_request']['received'] );
			$order->update_meta_data( self::REQUEST, $request );
		}
		$handled[] = $transfer['id'];
		$order->update_meta_data( self::TRANSACTIONS, $handled );
		$order->save();
		$order = wc_get_order( $order->get_id() );
		return $order && in_array( $transfer['id'], self::kept( $order, self::TRANSACTIONS ), true );
	}

	/**
	 * Decides whether a transfer pays the order, and gives the note for whoever looks at the
	 * order. Whatever is not certain is only noted.
	 */
	private static function decide( WC_Order $order, array $request, array $transfer, &$pays ) {
		$state = $transfer['payment_request'];
		$what  = sprintf(
			/* translators: 1: an amount, 2: the id of a transaction, 3: the number that the bank gave it, 4: a payment code */
			__( '%1$s came by transaction %2$s (number %3$s, code %4$s).', 'baoco' ),
			self::money( $transfer['transferAmount'] ),
			$transfer['id'],
			isset( $transfer['transactionNumber'] ) ? $transfer['transactionNumber'] : '',
			'' === $transfer['code'] ? '–' : $transfer['code']
		) . ' ';
		if ( $state['id'] !== $request['id'] ) {
			return $what . __( 'It is for an earlier payment page of this order, from before its total or the page changed. Please check the order by hand.', 'baoco' );
		}
		if ( $transfer['code'] !== $request['code'] ) {
			/* translators: %s: a payment code */
			return $what . sprintf( __( 'It does not carry the code of this order, which is %s. Please check the order by hand.', 'baoco' ), $request['code'] );
		}
		if ( $order->is_paid() ) {
			if ( $order->get_transaction_id() === $transfer['id'] || $state['received'] <= $request['received'] ) {
				return ''; // It is part of what paid the order.
			}
			return $what . __( 'The order is paid already. Please check whether money is to be paid back.', 'baoco' );
		}
		$total    = self::total( $order );
		$received = $request['credit'] + max( $request['received'], $state['received'] );
		if ( null === $total ) {
			return $what . __( 'The total of the order is not a whole amount in Vietnamese dong. Please check the order by hand.', 'baoco' );
		}
		if ( ! $order->has_status( array( 'pending', 'on-hold', 'failed' ) ) ) {
			/* translators: %s: the status of the order */
			return $what . sprintf( __( 'The order is not waiting for a payment: its status is “%s”, which was not changed. Please check whether money is to be paid back.', 'baoco' ), wc_get_order_status_name( $order->get_status() ) );
		}
		if ( $received < $total ) {
			/* translators: 1: what came so far, 2: the total of the order, 3: the rest */
			return $what . sprintf( __( 'So far %1$s of %2$s have come; %3$s are missing.', 'baoco' ), self::money( $received ), self::money( $total ), self::money( $total - $received ) );
		}
		if ( ! in_array( $state['status'], array( 'paid', 'overpaid', 'paid_late' ), true ) || $request['credit'] + $state['received'] < $total ) {
			return $what . __( 'All the money seems to have come, but baoco does not say that it is paid. Please check the order by hand.', 'baoco' );
		}
		$pays = true;
		if ( $received > $total ) {
			/* translators: %s: an amount */
			$what .= sprintf( __( 'That is %s too much.', 'baoco' ), self::money( $received - $total ) ) . ' ';
		}
		if ( 'paid_late' === $state['status'] ) {
			$what .= __( 'It came after the payment page had ended.', 'baoco' ) . ' ';
		}
		return $what . __( 'The order is paid.', 'baoco' );
	}

	private static function money( $amount ) {
		return number_format_i18n( $amount ) . ' ₫';
	}
}
