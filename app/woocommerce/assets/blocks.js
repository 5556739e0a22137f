// The gateway in the checkout block. There is no build step: what it needs comes with
// WordPress and WooCommerce, in the global variables wp and wc.
( function () {
	const settings = window.wc.wcSettings.getSetting( 'baoco_data', {} );
	const text = ( name ) => window.wp.htmlEntities.decodeEntities( settings[ name ] || '' );
	const element = ( name ) => window.wp.element.createElement( 'span', null, text( name ) );

	window.wc.wcBlocksRegistry.registerPaymentMethod( {
		name: 'baoco',
		label: element( 'title' ),
		ariaLabel: text( 'title' ),
		content: element( 'description' ),
		edit: element( 'description' ),
		canMakePayment: () => true,
		supports: { features: settings.supports || [ 'products' ] },
	} );
} )();
