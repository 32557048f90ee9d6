import { Popover } from '@base-ui/react/popover'
import { Braces } from 'lucide-react'
import { buttonClass } from '../parts/button.tsx'
import { TextArea } from '../parts/field.tsx'
import type { Person } from './person.ts'
import styles from './preview-data.module.css'

/** Values for variables that the contact does not have, or has otherwise. */
export const PreviewData = ({ person, error }: { person: Person; error: unknown }) => (
	<Popover.Root>
		<Popover.Trigger className={buttonClass()}>
			<Braces size={15} aria-hidden />
			{person.data ? 'Data is set' : 'Data'}
		</Popover.Trigger>
		<Popover.Portal keepMounted>
			<Popover.Positioner sideOffset={4} align="end" className={styles.place}>
				<Popover.Popup className={styles.popup} aria-label="Data of the preview">
					<TextArea
						label="Data as JSON"
						name="data"
						rows={6}
						spellCheck={false}
						placeholder={'{\n  "plan": "pro"\n}'}
						error={error}
						hint={
							person.dataFault ?? 'Stands in for data of the contact, in the preview and in tests.'
						}
						onChange={(event) => person.typeData(event.target.value)}
					/>
				</Popover.Popup>
			</Popover.Positioner>
		</Popover.Portal>
	</Popover.Root>
)
