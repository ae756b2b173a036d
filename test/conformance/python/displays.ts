/** Displays: `display()` and rich representations, as IPython's documentation describes them. */
import type { PythonCase } from './case.ts'

const rich = (...methods: readonly string[]): string =>
  [
    'class Rich:',
    '    def __repr__(self): return "rich"',
    ...methods.map((method) => `    ${method}`),
    '',
  ].join('\n')
const unserializable = { $type: 'Unserializable', text: 'rich' }

export const displays: readonly PythonCase[] = [
  {
    feature: 'display of plain values',
    code: 'display(1, "a")\ndisplay([None])',
    displays: [{ 'text/plain': '1' }, { 'text/plain': "'a'" }, { 'text/plain': '[None]' }],
  },
  {
    feature: 'every format, in the order of IPython',
    code: `${rich(
      'def _repr_javascript_(self): return "1"',
      'def _repr_json_(self): return {"a": 1}',
      'def _repr_latex_(self): return "$x$"',
      'def _repr_jpeg_(self): return b"\\xff"',
      'def _repr_pdf_(self): return b"%PDF"',
      'def _repr_png_(self): return b"\\x89"',
      'def _repr_svg_(self): return "<svg/>"',
      'def _repr_markdown_(self): return "*m*"',
      'def _repr_html_(self): return "<b>"',
    )}Rich()`,
    value: unserializable,
    displays: [
      {
        'text/plain': 'rich',
        'text/html': '<b>',
        'text/markdown': '*m*',
        'image/svg+xml': '<svg/>',
        'image/png': 'iQ==',
        'application/pdf': 'JVBERg==',
        'image/jpeg': '/w==',
        'text/latex': '$x$',
        'application/json': '{"a": 1}',
        'application/javascript': '1',
      },
    ],
  },
  {
    feature: '_repr_mimebundle_ comes before the single formats',
    code: `${rich(
      'def _repr_mimebundle_(self, include=None, exclude=None): return {"text/html": "bundle", "application/x+json": {"n": [1]}}, {"text/html": {"isolated": True}}',
      'def _repr_html_(self): return "single"',
      'def _repr_latex_(self): return "$l$", {"meta": 1}',
    )}display(Rich())`,
    displays: [
      {
        'text/plain': 'rich',
        'text/html': 'bundle',
        'application/x+json': '{"n": [1]}',
        'text/latex': '$l$',
      },
    ],
  },
  {
    feature: 'include and exclude',
    code: `${rich(
      'def _repr_mimebundle_(self, include, exclude): return {"text/html": f"{include} {exclude}", "a/b": "x"}',
      'def _repr_latex_(self): return "$l$"',
    )}display(Rich(), include=["text/html", "text/latex"])\ndisplay(Rich(), exclude=["text/plain", "a/b"])`,
    displays: [
      { 'text/html': "['text/html', 'text/latex'] None", 'text/latex': '$l$' },
      { 'text/html': "None ['text/plain', 'a/b']", 'text/latex': '$l$' },
    ],
  },
  {
    feature: 'raw bundles',
    code: 'display({"text/plain": "p", "application/json": {"a": 1}, "image/png": b"\\x89"}, raw=True)',
    displays: [{ 'text/plain': 'p', 'application/json': '{"a": 1}', 'image/png': 'iQ==' }],
  },
  {
    feature: '_ipython_display_ takes over',
    code: `${rich('def _ipython_display_(self): print("own way"); display("inner")', 'def _repr_html_(self): return "<b>"')}Rich()`,
    stdout: 'own way\n',
    value: unserializable,
    displays: [{ 'text/plain': "'inner'" }],
  },
  {
    feature: '_ipython_display_ that does not want to',
    code: `${rich('def _ipython_display_(self): raise NotImplementedError', 'def _repr_html_(self): return "<b>"')}display(Rich())`,
    displays: [{ 'text/plain': 'rich', 'text/html': '<b>' }],
  },
  {
    feature: 'a format that fails, is None or of a wrong type is left out',
    code: `${rich('def _repr_html_(self): raise ValueError', 'def _repr_latex_(self): return None', 'def _repr_markdown_(self): return 5')}display(Rich())`,
    displays: [{ 'text/plain': 'rich' }],
  },
  {
    feature: 'methods that an object carries itself',
    code: `${rich('pass')}r = Rich()\nr._repr_html_ = lambda: "<i>"\ndisplay(r)`,
    displays: [{ 'text/plain': 'rich', 'text/html': '<i>' }],
  },
  {
    feature: 'a class is not shown by the methods of its instances',
    code: `${rich('def _repr_html_(self): return "<b>"')}display(Rich)`,
    displays: [{ 'text/plain': "<class '__main__.Rich'>" }],
  },
]
