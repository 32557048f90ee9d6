import { randomUUID } from 'node:crypto'
import Type, { type Static } from 'typebox'
import type { Stripe } from './client.ts'

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Amounts = {
	amount_due: Type.Number(),
	currency: Type.String(),
	period_start: Type.Number(),
	period_end: Type.Number(),
}
const Invoice = Type.Object({
	id: Type.String(),
	number: Text,
	status: Text,
	...Amounts,
	amount_paid: Type.Number(),
	amount_remaining: Type.Number(),
	total: Type.Number(),
	created: Type.Number(),
	hosted_invoice_url: Text,
	invoice_pdf: Text,
})
const Invoices = Type.Object({ data: Type.Array(Invoice) })

/** The newest hundred. Amounts are in the currency's smallest unit. */
export async function invoicesOf(stripe: Stripe, customerId: string) {
	const { data } = await stripe.get('/v1/invoices', { customer: customerId, limit: 100 }, Invoices)
	return data.map((invoice) => ({
		id: invoice.id,
		number: invoice.number ?? null,
		status: invoice.status ?? null,
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

const isUnpaid = ({ status, amount_remaining }: Static<typeof Invoice>) =>
	(status === 'open' || status === 'uncollectible') && amount_remaining > 0

/** What this month comes to so far. */
export async function upcomingInvoice(stripe: Stripe, customerId: string, subscription: string) {
	const parameters = { customer: customerId, subscription }
	const preview = await stripe.post(
		'/v1/invoices/create_preview',
		parameters,
		Type.Object(Amounts),
		randomUUID(),
	)
	return { amountDue: preview.amount_due, currency: preview.currency, ...period(preview) }
}

const period = ({ period_start, period_end }: { period_start: number; period_end: number }) => ({
	periodStart: timeOf(period_start),
	periodEnd: timeOf(period_end),
})

const timeOf = (seconds: number) => new Date(seconds * 1000)
