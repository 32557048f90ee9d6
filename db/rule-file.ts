import { defineEntity, p } from '@mikro-orm/core'

/** A rules file in the version applied to this database: see db/rules.ts. */
const schema = defineEntity({
	name: 'RuleFile',
	tableName: 'rule_files',
	properties: {
		name: p.text().primary(),
		digest: p.text(),
		appliedAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class RuleFile extends schema.class {}
schema.setClass(RuleFile)
