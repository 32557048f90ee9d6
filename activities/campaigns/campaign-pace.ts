const firstMails = 20
const mostMails = 200
/** A slice should be under way for so long: what is, is in doubt if the worker is killed. */
const sliceMs = 100

/** How many mails make a slice, by how long earlier ones took. */
export function createPace() {
	let mails = firstMails
	return {
		mails: () => Math.round(mails),
		took(count: number, ms: number) {
			// Small ones at the end of a lane tell nothing.
			if (count < mails / 2) return
			const fitting = (count * sliceMs) / Math.max(ms, 1)
			mails = Math.min(mostMails, Math.max(1, Math.min(mails * 1.5, (mails + fitting) / 2)))
		},
	}
}
