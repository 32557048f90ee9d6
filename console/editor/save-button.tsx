import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { useIsChanged, type Writing } from './writing.ts'

interface Props {
	writing: Writing<{ body: string }>
	onSave: () => void
	isBusy: boolean
	/** Not stored at all yet. */
	isNew?: boolean
	kind?: 'primary' | 'plain'
}

export function SaveButton({ writing, onSave, isBusy, isNew = false, kind = 'primary' }: Props) {
	const isChanged = useIsChanged(writing)
	return (
		<Button
			kind={kind}
			title="Ctrl S"
			isBusy={isBusy}
			disabled={!isChanged && !isNew}
			onClick={onSave}
		>
			{isChanged || isNew ? 'Save' : 'Saved'}
		</Button>
	)
}

export const Unsaved = ({ writing }: Pick<Props, 'writing'>) =>
	useIsChanged(writing) ? <Badge tone="warn">Not saved</Badge> : null
