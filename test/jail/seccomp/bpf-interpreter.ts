/** Interprets the bytes of a seccomp filter for one call, as the kernel would. */
export interface SeccompData {
  readonly number: number
  readonly auditArchitecture: number
  readonly arguments?: readonly bigint[]
}

export const instructionBytes = 8

/** The value that the filter returns: an action in the high half, an errno in the low. */
export function runFilter(program: Uint8Array, call: SeccompData): number {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength)
  const data = layOut(call)
  let accumulator = 0
  let index = 0
  // Jumps only lead forward, so every program ends.
  for (let offset = 0; offset < program.byteLength; offset += instructionBytes) {
    const code = view.getUint16(offset, true)
    const operand = view.getUint32(offset + 4, true)
    const jump = (holds: boolean) => view.getUint8(offset + (holds ? 2 : 3)) * instructionBytes
    switch (code) {
      case 0x20: // BPF_LD | BPF_W | BPF_ABS
        accumulator = data.getUint32(operand, true)
        break
      case 0x54: // BPF_ALU | BPF_AND | BPF_K
        accumulator = (accumulator & operand) >>> 0
        break
      case 0x00: // BPF_LD | BPF_IMM
        accumulator = operand
        break
      case 0x07: // BPF_MISC | BPF_TAX
        index = accumulator
        break
      case 0x6c: // BPF_ALU | BPF_LSH | BPF_X
        if (index > 31) throw new Error('The filter shifts by more than 31 bits.')
        accumulator = (accumulator << index) >>> 0
        break
      case 0x45: // BPF_JMP | BPF_JSET | BPF_K
        offset += jump((accumulator & operand) !== 0)
        break
      case 0x05: // BPF_JMP | BPF_JA
        offset += operand * instructionBytes
        break
      case 0x15: // BPF_JMP | BPF_JEQ | BPF_K
        offset += jump(accumulator === operand)
        break
      case 0x35: // BPF_JMP | BPF_JGE | BPF_K, without sign
        offset += jump(accumulator >= operand)
        break
      case 0x06: // BPF_RET | BPF_K
        return operand
      default:
        throw new Error(`The filter has an instruction 0x${code.toString(16)} that it should not need.`)
    }
  }
  throw new Error('The filter ran past its end, and the kernel would not have loaded it.')
}

/** struct seccomp_data: number, architecture, instruction pointer, six arguments of 64 bits. */
function layOut(call: SeccompData): DataView {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.number, true)
  data.setUint32(4, call.auditArchitecture, true)
  for (const [index, value] of (call.arguments ?? []).entries()) {
    data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true)
  }
  return data
}
