import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../parts/button.tsx'
import { useBuilder } from './builder-context.ts'
import styles from './conditions.module.css'

interface Props {
	onFilter: () => void
	onTree: (() => void) | undefined
	onRemove: (() => void) | undefined
}

/** Buttons that add to a group, and one that removes it. */
export function GroupActs({ onFilter, onTree, onRemove }: Props) {
	const { isFull } = useBuilder()
	return (
		<div className={styles.acts} data-acts>
			<Button
				kind="quiet"
				icon={<Plus size={15} aria-hidden />}
				disabled={isFull}
				onClick={onFilter}
			>
				And
			</Button>
			{onTree && (
				<Button kind="quiet" disabled={isFull} onClick={onTree}>
					And one of several
				</Button>
			)}
			{onRemove && (
				<IconButton name="Remove this group" icon={<X size={15} />} onClick={onRemove} />
			)}
		</div>
	)
}
