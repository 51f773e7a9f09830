"""Programs that start at once: LLVM, MLIR and Abseil are linked in.

The shared libraries of LLVM and MLIR are 190 MB with half a million relocations, which a process applies before its
first line: some 30 ms of processor time. Linked in at a fixed address, they have none, and only what is used is there.
Tests and tools keep the shared libraries, since linking takes seconds and tens of megabytes for each program.

`--define=compiler=shared` links these programs with the shared libraries too: many of them share one copy.
"""

_MLIR = [
    "AffineDialect",
    "Analysis",
    "ArithDialect",
    "ArithTransforms",
    "ArithUtils",
    "AsmParser",
    "BytecodeOpInterface",
    "BytecodeReader",
    "CastInterfaces",
    "ComplexDialect",
    "ControlFlowDialect",
    "ControlFlowInterfaces",
    "DataLayoutInterfaces",
    "DestinationStyleOpInterface",
    "DialectUtils",
    "FuncDialect",
    "FunctionInterfaces",
    "IR",
    "InferIntRangeCommon",
    "InferIntRangeInterface",
    "InferTypeOpInterface",
    "LLVMDialect",
    "LoopLikeInterface",
    "MaskableOpInterface",
    "MaskingOpInterface",
    "MathDialect",
    "MathTransforms",
    "MemRefDialect",
    "MemorySlotInterfaces",
    "PDLDialect",
    "PDLInterpDialect",
    "PDLToPDLInterp",
    "ParallelCombiningOpInterface",
    "Parser",
    "Pass",
    "Presburger",
    "Rewrite",
    "RewritePDL",
    "SCFDialect",
    "ShapedOpInterfaces",
    "SideEffectInterfaces",
    "Support",
    "TensorDialect",
    "TransformUtils",
    "Transforms",
    "UBDialect",
    "ValueBoundsOpInterface",
    "VectorDialect",
    "VectorInterfaces",
    "ViewLikeInterface",
    "X86VectorDialect",
]

_LLVM = [
    "AggressiveInstCombine",
    "Analysis",
    "AsmParser",
    "AsmPrinter",
    "BinaryFormat",
    "BitReader",
    "BitWriter",
    "BitstreamReader",
    "CFGuard",
    "CodeGen",
    "CodeGenTypes",
    "Core",
    "Coroutines",
    "DebugInfoCodeView",
    "DebugInfoDWARF",
    "Demangle",
    "FrontendOffloading",
    "FrontendOpenMP",
    "GlobalISel",
    "HipStdPar",
    "IRPrinter",
    "IRReader",
    "InstCombine",
    "Instrumentation",
    "Linker",
    "MC",
    "MCDisassembler",
    "MCParser",
    "NVPTXCodeGen",
    "NVPTXDesc",
    "NVPTXInfo",
    "ObjCARCOpts",
    "Object",
    "Option",
    "Passes",
    "ProfileData",
    "Remarks",
    "ScalarOpts",
    "SelectionDAG",
    "Support",
    "Target",
    "TargetParser",
    "TextAPI",
    "TransformUtils",
    "Vectorize",
    "X86CodeGen",
    "X86Desc",
    "X86Info",
    "ipo",
]

# LLVM and MLIR. Their shared libraries come later on the command line, and are left out when nothing of them is missing
# any more.
STATIC_COMPILER = (
    ["-L/usr/lib/llvm-19/lib", "-Wl,--start-group"] +
    ["-l:libMLIR%s.a" % name for name in _MLIR] +
    ["-l:libLLVM%s.a" % name for name in _LLVM] +
    ["-Wl,--end-group", "-Wl,--as-needed", "-l:libzstd.so.1", "-lz"]
)

def tandem_program(name, **kwargs):
    """A cc_binary that starts at once."""
    native.cc_binary(
        name = name,
        additional_linker_inputs = ["//third_party:no_exports.lds"],
        linkopts = select({
            "//third_party:shared_compiler": [],
            "//conditions:default": [
                "-no-pie",
                "-Wl,--gc-sections",
                # Else what the shared libraries have too would be exported, for any library with another LLVM to find.
                "-Wl,--version-script=$(location //third_party:no_exports.lds)",
            ] + STATIC_COMPILER,
        }),
        **kwargs
    )
