import type { Question } from '../parts/confirm.tsx'

export const discardQuestion = (noun: 'template' | 'campaign' | 'workflow'): Question => ({
	title: 'Discard your changes?',
	body: `The ${noun} is shown as it is stored. Your unsaved changes are lost.`,
	act: 'Discard my changes',
	isDestructive: true,
})
