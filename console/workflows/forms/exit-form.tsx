import { TextField } from '../../parts/field.tsx'
import { textOf } from '../../parts/text-of.ts'
import { type StepFormProps, withoutEmpty } from './form-props.ts'

export const ExitForm = ({ step: { config }, onConfig, error }: StepFormProps) => (
	<TextField
		name="config.reason"
		label="Reason"
		hint="Shown with each execution that ends here"
		maxLength={500}
		value={textOf(config['reason'])}
		error={error}
		onChange={({ target }) => onConfig(withoutEmpty({ reason: target.value }), 'reason')}
	/>
)
