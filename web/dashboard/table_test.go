package dashboard

// Pages is the table of pages.
var Pages = table
