import type Sdk from 'stripe'
import { isStripeError, type Stripe } from './client.ts'

/** The newest hundred. Amounts are in the currency's smallest unit. */
export async function invoicesOf({ sdk }: Stripe, customer: string) {
	const { data } = await sdk.invoices.list({ customer, limit: 100 })
	return data.map((invoice) => ({
		id: invoice.id,
		number: invoice.number,
		status: invoice.status,
		amountDue: invoice.amount_due,
		amountPaid: invoice.amount_paid,
		currency: invoice.currency,
		created: timeOf(invoice.created),
		...period(invoice),
		hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
		invoicePdf: invoice.invoice_pdf ?? null,
		total: invoice.total,
		paid: invoice.status === 'paid',
		isUnpaid: isUnpaid(invoice),
	}))
}

export const isUnpaid = ({ status, amount_remaining }: Sdk.Invoice) =>
	(status === 'open' || status === 'uncollectible') && amount_remaining > 0

/** The amount of this month so far. Null: a subscription that ends has no further invoice. */
export async function upcomingInvoice({ sdk }: Stripe, customer: string, subscription: string) {
	try {
		const preview = await sdk.invoices.createPreview({ customer, subscription })
		return { amountDue: preview.amount_due, currency: preview.currency, ...period(preview) }
	} catch (error) {
		if (isStripeError(error) && error.code === 'invoice_upcoming_none') return null
		throw error
	}
}

const period = ({ period_start, period_end }: Sdk.Invoice) => ({
	periodStart: timeOf(period_start),
	periodEnd: timeOf(period_end),
})

const timeOf = (seconds: number) => new Date(seconds * 1000)
