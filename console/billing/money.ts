/** Amounts are in the currency's smallest unit; currencies differ in how many of them make one. */
export function formatMoney(amount: number, currency: string) {
	const format = new Intl.NumberFormat(undefined, {
		style: 'currency',
		currency: currency.toUpperCase(),
	})
	const digits = format.resolvedOptions().maximumFractionDigits ?? 2
	return format.format(amount / 10 ** digits)
}
