/** Every rule of validation, with its level and languages. docs/guide/agent-executor.md is compared with this table. */
import type { RiskLevel } from '../../core/validation.ts'

export const validatedLanguages = ['python', 'javascript', 'typescript'] as const
export type ValidatedLanguage = (typeof validatedLanguages)[number]

/** TypeScript has the rules of JavaScript. */
export type RuleLanguage = 'Python' | 'JavaScript'

export interface Rule {
  readonly level: Exclude<RiskLevel, 'safe'>
  readonly languages: readonly RuleLanguage[]
  /** The rest of a sentence whose subject is the finding. */
  readonly says: string
}

const both = ['Python', 'JavaScript'] as const

export const validationRules = {
  'dynamic-code': { level: 'high', languages: both, says: 'runs text as code' },
  'dynamic-import': {
    level: 'high',
    languages: both,
    says: 'imports a module whose name may be known only at run time',
  },
  'dunder-escape': {
    level: 'high',
    languages: ['Python'],
    says: 'leads from an object to the internals of the interpreter',
  },
  'format-walk': { level: 'high', languages: ['Python'], says: 'lets a format string walk into objects' },
  'constructor-escape': {
    level: 'high',
    languages: ['JavaScript'],
    says: 'leads from an object to `Function`',
  },
  'native-code': { level: 'high', languages: both, says: 'calls or loads native code' },
  process: { level: 'high', languages: both, says: 'starts or signals processes' },
  'import-not-allowed': { level: 'high', languages: both, says: 'is not on the list of allowed modules' },
  unreadable: { level: 'high', languages: both, says: 'cannot be analyzed within the bounds of validation' },
  network: { level: 'medium', languages: both, says: 'uses the network' },
  'outside-file': { level: 'medium', languages: both, says: 'is a path outside of the workspace' },
  unserialize: { level: 'medium', languages: ['Python'], says: 'runs code while it reads data' },
  'dynamic-attribute': {
    level: 'medium',
    languages: ['Python'],
    says: 'reads an attribute by a computed name',
  },
  internals: { level: 'medium', languages: both, says: 'looks into the interpreter' },
  'prototype-change': {
    level: 'medium',
    languages: ['JavaScript'],
    says: 'changes an object that others share',
  },
  'syntax-error': { level: 'medium', languages: both, says: 'is where the program stops being valid code' },
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof validationRules

export function isRuleName(name: unknown): name is RuleName {
  return typeof name === 'string' && Object.hasOwn(validationRules, name)
}
