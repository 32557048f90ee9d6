import { AlertDialog } from '@base-ui/react/alert-dialog'
import { buttonClass } from './button.tsx'
import type { Question } from './confirm.tsx'
import styles from './dialog.module.css'

interface Props {
	question: Question
	isOpen: boolean
	answer: (is: boolean) => void
}

export default function QuestionDialog({ question, isOpen, answer }: Props) {
	const { title, body, act, back = 'Cancel', isDestructive = false } = question
	return (
		<AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && answer(false)}>
			<AlertDialog.Portal>
				<AlertDialog.Backdrop className={styles.veil} />
				<AlertDialog.Popup className={styles.dialog}>
					<AlertDialog.Title render={<h2 />} className={styles.head}>
						{title}
					</AlertDialog.Title>
					<AlertDialog.Description render={<div />} className={styles.body}>
						{body}
					</AlertDialog.Description>
					<div className={styles.acts}>
						<AlertDialog.Close className={buttonClass()}>{back}</AlertDialog.Close>
						<button
							type="button"
							className={buttonClass(isDestructive ? 'danger' : 'primary')}
							onClick={() => answer(true)}
						>
							{act}
						</button>
					</div>
				</AlertDialog.Popup>
			</AlertDialog.Portal>
		</AlertDialog.Root>
	)
}
