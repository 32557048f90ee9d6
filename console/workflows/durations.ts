export const units = [
	{ value: 'seconds', name: 'seconds', seconds: 1 },
	{ value: 'minutes', name: 'minutes', seconds: 60 },
	{ value: 'hours', name: 'hours', seconds: 3600 },
	{ value: 'days', name: 'days', seconds: 86_400 },
] as const

/** 259,200 seconds are 3 days: the largest unit that needs no fraction. */
export function durationOf(seconds: number) {
	const unit =
		units.findLast((one) => seconds >= one.seconds && seconds % one.seconds === 0) ?? units[0]
	return { amount: seconds / unit.seconds, unit: unit.value }
}

export const secondsOf = (amount: number, unit: string) =>
	amount * (units.find(({ value }) => value === unit)?.seconds ?? 1)

export const inDuration = (amount: number, unit: string) =>
	`${amount} ${amount === 1 ? unit.replace(/s$/, '') : unit}`

export function durationInWords(seconds: number) {
	const { amount, unit } = durationOf(seconds)
	return inDuration(amount, unit)
}
