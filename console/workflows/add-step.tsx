import { Dialog } from '../parts/dialog.tsx'
import styles from './editor.module.css'
import { addableTypes, kinds } from './step-kinds.ts'
import type { StepType } from './graph.ts'

interface Props {
	isOpen: boolean
	/** Where the step goes, in words. */
	place: string
	onChoose: (type: StepType) => void
	onClose: () => void
}

export const AddStep = ({ isOpen, place, onChoose, onClose }: Props) => (
	<Dialog title={`Add a step ${place}`} isOpen={isOpen} onClose={onClose}>
		<div className={styles.kinds}>
			{addableTypes.map((type) => {
				const { name, about, icon: Icon } = kinds[type]
				return (
					<button key={type} type="button" className={styles.kind} onClick={() => onChoose(type)}>
						<Icon size={18} aria-hidden />
						<strong>{name}</strong>
						<span>{about}</span>
					</button>
				)
			})}
		</div>
	</Dialog>
)
