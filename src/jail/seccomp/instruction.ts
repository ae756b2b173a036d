/**
 * The few instructions of classic BPF that a seccomp filter needs, and their bytes.
 */
export interface Instruction {
  readonly code: number
  /** How many instructions to skip when the comparison holds, and when it does not. */
  readonly ifTrue: number
  readonly ifFalse: number
  readonly operand: number
}

// <linux/bpf_common.h>: instruction class | size or operation | addressing.
const loadWord = 0x20
const loadImmediate = 0x00
const andConstant = 0x54
const shiftLeftByIndex = 0x6c
const accumulatorToIndex = 0x07
const jumpAlways = 0x05
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfAnyBit = 0x45
const returnConstant = 0x06

// struct sock_filter: u16 code, u8 jt, u8 jf, u32 k.
const instructionBytes = 8

// A conditional jump is one byte; an unconditional one is a whole word and reaches everywhere.
export const conditionalJumpMax = 255

// BPF_MAXINSNS of the kernel.
export const instructionsMax = 4096

function constant(code: number, operand: number): Instruction {
  return { code, ifTrue: 0, ifFalse: 0, operand }
}

/** Loads 32 bits of struct seccomp_data at an offset. */
export const load = (offset: number) => constant(loadWord, offset)
export const and = (mask: number) => constant(andConstant, mask >>> 0)
export const loadConstant = (value: number) => constant(loadImmediate, value >>> 0)
/** There are two registers: the accumulator, which everything else works on, and an index. */
export const copyToIndex = constant(accumulatorToIndex, 0)
export const shiftByIndex = constant(shiftLeftByIndex, 0)
export const skip = (instructions: number) => constant(jumpAlways, instructions)
export const answer = (value: number) => constant(returnConstant, value >>> 0)

export function isSameInstruction(left: Instruction, right: Instruction): boolean {
  const { code, operand, ifTrue, ifFalse } = left
  return (
    code === right.code && operand === right.operand && ifTrue === right.ifTrue && ifFalse === right.ifFalse
  )
}

export type InstructionKind = 'load' | 'mask' | 'compute' | 'skip' | 'compare' | 'answer'

const kinds: Readonly<Record<number, InstructionKind>> = {
  [loadWord]: 'load',
  [andConstant]: 'mask',
  [jumpAlways]: 'skip',
  [jumpIfEqual]: 'compare',
  [jumpIfAtLeast]: 'compare',
  [jumpIfAnyBit]: 'compare',
  [returnConstant]: 'answer',
}

export const kindOf = ({ code }: Instruction): InstructionKind => kinds[code] ?? 'compute'

/** Whether a comparison holds for a value of the accumulator. */
export function holdsFor({ code, operand }: Instruction, value: number): boolean {
  if (code === jumpIfEqual) return value === operand
  return code === jumpIfAtLeast ? value >= operand : (value & operand) !== 0
}

export const isEquality = ({ code }: Instruction) => code === jumpIfEqual

export function ifEqual(value: number, ifTrue: number, ifFalse: number): Instruction {
  return { code: jumpIfEqual, operand: value >>> 0, ifTrue, ifFalse }
}

export function ifAtLeast(value: number, ifTrue: number, ifFalse: number): Instruction {
  return { code: jumpIfAtLeast, operand: value >>> 0, ifTrue, ifFalse }
}

export function ifAnyBit(mask: number, ifTrue: number, ifFalse: number): Instruction {
  return { code: jumpIfAnyBit, operand: mask >>> 0, ifTrue, ifFalse }
}

/** The program as the kernel wants it. Both architectures are little-endian. */
export function encode(program: readonly Instruction[]): Uint8Array {
  if (program.length > instructionsMax) {
    throw new RangeError(
      `A filter has at most ${instructionsMax} instructions, and this one ${program.length}.`,
    )
  }
  const bytes = new Uint8Array(program.length * instructionBytes)
  const view = new DataView(bytes.buffer)
  for (const [index, { code, ifTrue, ifFalse, operand }] of program.entries()) {
    if (Math.max(ifTrue, ifFalse) > conditionalJumpMax) {
      throw new RangeError(`Instruction ${index} jumps over more than ${conditionalJumpMax} others.`)
    }
    const offset = index * instructionBytes
    view.setUint16(offset, code, true)
    view.setUint8(offset + 2, ifTrue)
    view.setUint8(offset + 3, ifFalse)
    view.setUint32(offset + 4, operand, true)
  }
  return bytes
}
