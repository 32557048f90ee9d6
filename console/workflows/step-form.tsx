import type { ComponentType } from 'react'
import type { StepType } from './graph.ts'
import { ConditionForm } from './forms/condition-form.tsx'
import { DelayForm } from './forms/delay-form.tsx'
import { ExitForm } from './forms/exit-form.tsx'
import type { StepFormProps } from './forms/form-props.ts'
import { MailForm } from './forms/mail-form.tsx'
import { UpdateForm } from './forms/update-form.tsx'
import { WaitForm } from './forms/wait-form.tsx'
import { WebhookForm } from './forms/webhook-form.tsx'

const forms: Record<Exclude<StepType, 'TRIGGER'>, ComponentType<StepFormProps>> = {
	SEND_EMAIL: MailForm,
	DELAY: DelayForm,
	WAIT_FOR_EVENT: WaitForm,
	CONDITION: ConditionForm,
	UPDATE_CONTACT: UpdateForm,
	WEBHOOK: WebhookForm,
	EXIT: ExitForm,
}

/** The settings of a step of any kind but the trigger. */
export function StepForm(props: StepFormProps) {
	if (props.step.type === 'TRIGGER') return null
	const Form = forms[props.step.type]
	return <Form {...props} />
}
