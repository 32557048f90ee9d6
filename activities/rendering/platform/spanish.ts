import type { Words } from './words.ts'

export const spanish: Words = {
	addressOfButton: 'Si el botón no funciona, abra esta dirección en su navegador:',
	letters: {
		verification: () => ({
			subject: 'Confirme su dirección de correo',
			paragraphs: ['Confirme que esta dirección es suya. El enlace es válido durante una hora.'],
			button: 'Confirmar la dirección',
			remark: '¿No se ha registrado? Entonces no tiene que hacer nada.',
		}),
		passwordReset: () => ({
			subject: 'Elija una contraseña nueva',
			paragraphs: [
				'Alguien, probablemente usted, ha pedido una contraseña nueva para esta cuenta. El enlace es válido durante una hora.',
			],
			button: 'Elegir una contraseña',
			remark: '¿No ha sido usted? Entonces su contraseña no cambia.',
		}),
		invitation: ({ project, inviter }) => ({
			subject: `Invitación a ${project}`,
			paragraphs: [`${inviter} le invita a colaborar en el proyecto ${project}.`],
			button: 'Aceptar la invitación',
			remark: 'Si no sabe de qué se trata, ignore este correo.',
		}),
		suspension: ({ project, reason }) => ({
			subject: `El envío está suspendido: ${project}`,
			paragraphs: [
				reason === 'bounces'
					? `Demasiados correos del proyecto ${project} no pudieron entregarse porque sus direcciones no existen.`
					: `Demasiados destinatarios han marcado como spam correos del proyecto ${project}.`,
				'Para proteger la entrega de sus correos, el envío está suspendido. Se han cancelado los correos en espera, las campañas y los workflows. Sus datos se pueden seguir leyendo.',
			],
			remark:
				'Póngase en contacto con soporte: juntos encontraremos la causa y levantaremos la suspensión.',
		}),
		domainLost: ({ project, domain, error }) => ({
			subject: `${domain} ya no puede enviar: ${project}`,
			paragraphs: [
				`Tres comprobaciones seguidas no han encontrado los registros DNS que necesita ${domain}. Por eso el proyecto ${project} ya no puede enviar desde este dominio.`,
				error,
			],
			remark:
				'Restablezca los registros tal como se muestran para el dominio. Se comprueba cada pocos minutos y podrá enviar de nuevo en cuanto se encuentren.',
		}),
	},
}
