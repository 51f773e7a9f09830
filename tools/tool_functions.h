// The tools, each as what its main function does. Its flags are known to that call alone.
#ifndef TANDEM_TOOLS_TOOL_FUNCTIONS_H_
#define TANDEM_TOOLS_TOOL_FUNCTIONS_H_

namespace tandem {

// Each runs a tool on the arguments of a main function, and returns the exit code of the process.
int TandemCalibrate(int argc, char** argv);
int TandemCheckpoint(int argc, char** argv);
int TandemCluster(int argc, char** argv);
int TandemCompare(int argc, char** argv);
int TandemDevices(int argc, char** argv);
int TandemDump(int argc, char** argv);
int TandemLaunch(int argc, char** argv);
int TandemOnnx(int argc, char** argv);
int TandemPlot(int argc, char** argv);
int TandemRecords(int argc, char** argv);
int TandemRun(int argc, char** argv);
int TandemScale(int argc, char** argv);
int TandemServe(int argc, char** argv);
int TandemStablehlo(int argc, char** argv);
int TandemTextures(int argc, char** argv);

}  // namespace tandem

#endif  // TANDEM_TOOLS_TOOL_FUNCTIONS_H_
