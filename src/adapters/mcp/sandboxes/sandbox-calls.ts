/** The implementations of the sandbox tools: each performs one call of a client. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { LazaretError } from '../../../core/errors/errors.ts'
import { showPath } from '../../../core/shown-path.ts'
import { describeCode, describeCommand } from './describe-sandbox-work.ts'
import { contextOf } from './context-calls.ts'
import { linksTo, pictureOf } from './file-resources.ts'
import { sandboxOf } from './sandbox-call.ts'
import type { Called } from './sandbox-call.ts'
import type * as schemas from './sandbox-schemas.ts'

/** More than a model reads of a file, and less than a message of the protocol holds. */
const readBytesMax = 1024 * 1024
const entriesMax = 1000

export async function createSandbox({
  sandboxes,
  client,
  signal,
}: Called<typeof schemas.createSandbox>): Promise<CallToolResult> {
  const handle = await sandboxes.create(client, signal)
  const { idleMs } = sandboxes
  return {
    content: [{ type: 'text', text: `sandbox_id: ${handle}` }],
    structuredContent: { sandbox_id: handle, idleTimeoutMs: idleMs },
  }
}

export async function runCode(call: Called<typeof schemas.runCode>): Promise<CallToolResult> {
  const { args, signal } = call
  const { code, language, context_id: name, timeout_ms: timeout } = args
  const sandbox = sandboxOf(call)
  const context = name === undefined ? undefined : await contextOf(sandbox, name, language)
  const result = await sandbox.runCode(code, {
    ...(language !== undefined && { language }),
    ...(context !== undefined && { context }),
    ...(timeout !== undefined && { timeout }),
    signal,
  })
  return describeCode(result)
}

export async function executeCommand(call: Called<typeof schemas.executeCommand>): Promise<CallToolResult> {
  const { args, signal } = call
  const { command, cwd, timeout_ms: timeout } = args
  const result = await sandboxOf(call).exec(command, {
    ...(cwd !== undefined && { cwd }),
    ...(timeout !== undefined && { timeout }),
    signal,
  })
  return describeCommand(result)
}

/** A picture is returned as an image, too. */
export async function readFile(call: Called<typeof schemas.readFile>): Promise<CallToolResult> {
  const { path, encoding = 'utf8' } = call.args
  const bytes = await sandboxOf(call)
    .readFile(path, { encoding: 'bytes', bytesMax: readBytesMax })
    .catch((error: unknown) => {
      throw inWordsOfTools(error)
    })
  const base64 = Buffer.from(bytes).toString('base64')
  const image = pictureOf(base64)
  if (image !== undefined && encoding === 'utf8')
    return {
      content: [
        { type: 'text', text: `${path}: a picture, ${image.mimeType}, ${bytes.length} bytes` },
        { type: 'image', ...image },
      ],
      structuredContent: {},
    }
  const content = encoding === 'base64' ? base64 : Buffer.from(bytes).toString('utf8')
  const isExact = encoding === 'base64' || Buffer.from(content).equals(bytes)
  return {
    content: [
      { type: 'text', text: readable(content) },
      ...(isExact ? [] : [{ type: 'text' as const, text: inexactNote }]),
    ],
    structuredContent: { content, ...(!isExact && { note: inexactNote }) },
  }
}

const inexactNote =
  'Bytes that are not UTF-8 are shown as \uFFFD. Use the encoding base64 to get them unchanged.'

/** The hints of the library name its own options and methods. */
function inWordsOfTools(error: unknown): unknown {
  if (!(error instanceof LazaretError)) return error
  const { code } = error
  if (code === 'FILE_TOO_LARGE')
    return new LazaretError(code, {
      detail: 'read_file returns at most 1 MiB.',
      hint: "Read a part with execute_command, as with `head -c 100000 <path>` or `sed -n '1,200p' <path>`.",
    })
  if (code === 'NOT_A_FILE')
    return new LazaretError(code, { hint: 'list_files shows what is in a folder, and of which type.' })
  return error
}

/** Some model APIs refuse a text without a visible character. */
function readable(content: string): string {
  if (content === '') return '(empty file)'
  return content.trim() === '' ? '(only white space)' : content
}

export async function writeFile(call: Called<typeof schemas.writeFile>): Promise<CallToolResult> {
  const { sandbox_id: sandbox, path, content, encoding = 'utf8' } = call.args
  const bytes = Buffer.from(content, encoding)
  await sandboxOf(call).writeFile(path, bytes, { createParents: true })
  return {
    content: [
      { type: 'text', text: `${bytes.length} bytes written to ${path}` },
      ...linksTo([{ sandbox, path, bytes: bytes.length }], call.revision),
    ],
    structuredContent: { bytes: bytes.length },
  }
}

export async function listFiles(call: Called<typeof schemas.listFiles>): Promise<CallToolResult> {
  const { sandbox_id: sandbox, path = '/workspace', recursive = false } = call.args
  const { entries, isComplete } = await sandboxOf(call).listFiles(path, { recursive, entriesMax })
  const listed = entries.map(({ path: name, type, bytes }) => ({ path: name, type, bytes }))
  const files = listed
    .filter(({ type }) => type === 'file')
    .map(({ path: name, bytes }) => ({ sandbox, path: `${path}/${name}`, bytes }))
  const lines = listed.map(({ path: name, type, bytes }) =>
    type === 'file' ? `${showPath(name)} (${bytes} bytes)` : `${showPath(name)} (${type})`,
  )
  return {
    content: [
      { type: 'text', text: [...lines, ...(isComplete ? [] : ['…'])].join('\n') || '(empty folder)' },
      ...linksTo(files, call.revision),
    ],
    structuredContent: { entries: listed, isComplete },
  }
}

export async function closeSandbox({
  sandboxes,
  client,
  args,
}: Called<typeof schemas.closeSandbox>): Promise<CallToolResult> {
  await sandboxes.close(client, args.sandbox_id)
  return { content: [{ type: 'text', text: 'closed' }], structuredContent: { isClosed: true } }
}
