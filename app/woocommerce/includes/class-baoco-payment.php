<?php
defined( 'ABSPATH' ) || exit;

/**
 * Baoco_Payment asks baoco for the payment of an order, and decides what a transfer does
 * to the order. What it keeps is in the order's own meta data. Whoever calls ask() or
 * handle() has the lock of the order.
 */
class Baoco_Payment {

	/**
	 * The payment request that the customer pays now: id, code, amount, url, ends_at (a
	 * Unix time, or 0), credit (what came for the requests before it), and received (the
	 * most that baoco said has come for this one).
	 */
	const REQUEST = '_baoco_request';

	const EARLIER      = '_baoco_earlier_requests'; // The ids of the requests before it.
	const TRANSACTIONS = '_baoco_transactions'; // The ids of the transactions that were handled.

	private static function kept( WC_Order $order, string $name ): array {
		$value = $order->get_meta( $name );
		return is_array( $value ) ? $value : array();
	}

	/** Gives the total of an order in dong, or null if it isn't a whole amount in dong. */
	public static function total( WC_Order $order ): ?int {
		$whole = preg_match( '/^(\d{1,13})(\.0+)?$/', (string) $order->get_total(), $found );
		return 'VND' === $order->get_currency() && $whole ? (int) $found[1] : null;
	}

	/** Gives the address of the page on which the customer pays an order, or ''. */
	public static function page( WC_Order $order ): string {
		return self::kept( $order, self::REQUEST )['url'] ?? '';
	}

	/**
	 * Makes a payment request for an order, unless it has one for the same total that can
	 * still be paid. One that can't is cancelled, and what came for it counts.
	 *
	 * @param array $fields Further fields of the payment request: prefix, return_url, bank_account_id, expires_in.
	 * @return string|WP_Error The address of the page, or '' if nothing is left to pay.
	 */
	public static function ask( WC_Order $order, array $fields ) {
		$before  = self::kept( $order, self::REQUEST );
		$earlier = self::kept( $order, self::EARLIER );
		$credit  = 0;
		if ( $before ) {
			$received = self::close( $order, $before );
			if ( is_wp_error( $received ) || null === $received ) {
				return $received ?? $before['url'];
			}
			$credit    = $before['credit'] + $received;
			$earlier[] = $before['id'];
		}
		$amount = self::total( $order ) - $credit;
		if ( $amount <= 0 ) {
			return '';
		}
		$fields += array( 'amount' => $amount, 'reference' => (string) $order->get_id() );
		// A call whose answer got lost gives the same payment request when it is repeated.
		$key    = hash( 'sha256', $order->get_order_key() . wp_json_encode( array( $fields, $before['id'] ?? 0 ) ) );
		$answer = Baoco_Connection::api()->call( 'POST', '/payment-requests', $fields, $key );
		if ( is_wp_error( $answer ) ) {
			return $answer;
		}
		$request = array(
			'id'       => $answer['payment_request']['id'],
			'code'     => $answer['payment_request']['code'],
			'amount'   => $amount,
			'url'      => Baoco_Connection::get( 'address' ) . $answer['payment_request']['url_path'],
			'ends_at'  => isset( $fields['expires_in'] ) ? time() + 60 * $fields['expires_in'] : 0,
			'credit'   => $credit,
			'received' => 0,
		);
		$order->update_meta_data( self::REQUEST, $request );
		$order->update_meta_data( self::EARLIER, $earlier );
		$order->save();
		return $request['url'];
	}

	/**
	 * Closes a payment request that doesn't fit the order any longer.
	 *
	 * @return int|null|WP_Error What came for it; null if it still fits and stays open.
	 */
	private static function close( WC_Order $order, array $request ) {
		$answer = Baoco_Connection::api()->call( 'GET', '/payment-requests/' . $request['id'] );
		if ( is_wp_error( $answer ) ) {
			return 404 === $answer->get_error_data() ? 0 : $answer; // 404: the shop was connected with another baoco then.
		}
		$state = $answer['payment_request'];
		$ended = in_array( $state['status'], array( 'expired', 'cancelled' ), true ) || 'underpaid' === $state['status'] && $request['ends_at'] && time() > $request['ends_at'];
		if ( ! $ended && $request['amount'] + $request['credit'] === self::total( $order ) ) {
			return null;
		}
		$answer = Baoco_Connection::api()->call( 'POST', '/payment-requests/' . $request['id'] . '/cancel' );
		if ( is_wp_error( $answer ) ) {
			return 409 === $answer->get_error_data() ? $state['received'] : $answer; // 409: it is paid.
		}
		return $answer['payment_request']['received'];
	}

	/** Cancels the payment request of an order that was cancelled, so that nobody pays it. */
	public static function cancel( WC_Order $order ) {
		$request = self::kept( $order, self::REQUEST );
		$answer  = $request ? Baoco_Connection::api()->call( 'POST', '/payment-requests/' . $request['id'] . '/cancel' ) : null;
		if ( is_wp_error( $answer ) ) {
			/* translators: %s: what went wrong */
			$order->add_order_note( sprintf( __( 'The payment page could not be closed. %s', 'baoco' ), esc_html( $answer->get_error_message() ) ) );
		}
	}

	/** Reports whether a payment request is or was one of an order. */
	public static function has( WC_Order $order, int $request_id ): bool {
		$ids   = self::kept( $order, self::EARLIER );
		$ids[] = self::kept( $order, self::REQUEST )['id'] ?? 0;
		return in_array( $request_id, $ids, true );
	}

	/**
	 * Handles a transfer that baoco matched with a payment request of an order. One that
	 * was handled before changes nothing.
	 *
	 * @param WC_Order $order    The order, read after its lock was taken.
	 * @param array    $transfer An element of a verified delivery.
	 * @return bool Whether all was kept that had to be kept.
	 */
	public static function handle( WC_Order $order, array $transfer ): bool {
		$id      = $order->get_id();
		$handled = self::kept( $order, self::TRANSACTIONS );
		if ( in_array( $transfer['id'], $handled, true ) ) {
			return true;
		}
		$request = self::kept( $order, self::REQUEST );
		$pays    = false;
		$note    = self::decide( $order, $request, $transfer, $pays );
		if ( $pays ) {
			$order->payment_complete( $transfer['id'] );
			$order = wc_get_order( $id );
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
		$order->update_meta_data( self::TRANSACTIONS, array_merge( $handled, array( $transfer['id'] ) ) );
		$order->save();
		$order = wc_get_order( $id );
		return $order && in_array( $transfer['id'], self::kept( $order, self::TRANSACTIONS ), true );
	}

	/**
	 * Decides whether a transfer pays the order, and gives the note for whoever looks at the
	 * order. Whatever is not certain is only noted.
	 */
	private static function decide( WC_Order $order, array $request, array $transfer, bool &$pays ): string {
		$state = $transfer['payment_request'];
		/* translators: 1: an amount, 2: the id of a transaction, 3: the number that the bank gave it, 4: a payment code */
		$what = sprintf( __( '%1$s came by transaction %2$s (number %3$s, code %4$s).', 'baoco' ), self::money( $transfer['transferAmount'] ), esc_html( $transfer['id'] ), esc_html( $transfer['transactionNumber'] ?: '–' ), esc_html( $transfer['code'] ?: '–' ) ) . ' '; // WooCommerce shows notes as HTML.
		if ( $state['id'] !== $request['id'] ) {
			return $what . __( 'It is for an earlier payment page of this order. Please check the order by hand.', 'baoco' );
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
		if ( ! $order->has_status( array( 'pending', 'on-hold', 'failed' ) ) ) {
			/* translators: %s: the status of the order */
			return $what . sprintf( __( 'The order does not wait for a payment: its status is “%s”, which was not changed. Please check whether money is to be paid back.', 'baoco' ), wc_get_order_status_name( $order->get_status() ) );
		}
		$total = self::total( $order );
		if ( null === $total ) {
			return $what . __( 'The total of the order is not a whole amount in Vietnamese dong. Please check the order by hand.', 'baoco' );
		}
		$received = $request['credit'] + max( $request['received'], $state['received'] );
		if ( $received < $total ) {
			/* translators: 1: what came so far, 2: the total of the order, 3: the rest */
			return $what . sprintf( __( 'So far %1$s of %2$s have come; %3$s are missing.', 'baoco' ), self::money( $received ), self::money( $total ), self::money( $total - $received ) );
		}
		if ( ! in_array( $state['status'], array( 'paid', 'overpaid', 'paid_late' ), true ) || $request['credit'] + $state['received'] < $total ) {
			return $what . __( 'The money seems to be enough, but baoco does not say that it is. Please check the order by hand.', 'baoco' );
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

	private static function money( int $amount ): string {
		return number_format_i18n( $amount ) . ' ₫';
	}
}
